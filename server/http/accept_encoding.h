#pragma once

#include <string_view>

namespace telemetry::http {

// Returns true if an Accept-Encoding header names gzip with a weight above zero.
bool AcceptsGzip(std::string_view accept_encoding);

}  // namespace telemetry::http
