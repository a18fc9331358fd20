#pragma once

#include <string_view>

namespace telemetry::http {

// Returns the value of the first cookie with this name in a Cookie header, or an empty text.
std::string_view FindCookie(std::string_view header, std::string_view name);

}  // namespace telemetry::http
