#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace telemetry::collector {

// The longest request head that is read.
inline constexpr size_t kMaxHttpHeadBytes = 8192;

// Returns true if `bytes` contain the complete head of an HTTP/1.x request.
bool IsWholeHttpHead(std::string_view bytes);

// Returns OK if the request may read the page. `authorization`: the values of the headers of that name.
using AllowHttp = std::function<absl::Status(const std::vector<std::string_view>& authorization)>;

// Returns the response to the request with this head; the server closes the connection after sending it. GET and HEAD
// of "/metrics" return the metrics text. The response is 401 if `allow` returns UNAUTHENTICATED, 403 if it returns
// another error, and 404, 405 or 400 for other requests.
std::string AnswerHttp(std::string_view head, const AllowHttp& allow, const std::function<std::string()>& metrics);

// Returns the response to a head that is longer than kMaxHttpHeadBytes.
std::string AnswerTooLongHttpHead();

}  // namespace telemetry::collector
