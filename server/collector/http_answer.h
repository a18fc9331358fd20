#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace telemetry::collector {

// The longest head of a request that is read.
inline constexpr size_t kMaxHttpHeadBytes = 8192;

// Returns whether `bytes` hold the whole head of an HTTP/1.x request.
bool IsWholeHttpHead(std::string_view bytes);

// Decides who may read a page. `authorization`: the values of the headers of that name.
using AllowHttp = std::function<absl::Status(const std::vector<std::string_view>& authorization)>;

// Returns the answer to the request with this head, after which the connection is closed: the text of the page
// "/metrics" for GET and HEAD; 401 and 403 as `allow` says UNAUTHENTICATED or another error; 404, 405, 400 otherwise.
std::string AnswerHttp(std::string_view head, const AllowHttp& allow, const std::function<std::string()>& metrics);

// Returns the answer to a head that is longer than kMaxHttpHeadBytes.
std::string AnswerTooLongHttpHead();

}  // namespace telemetry::collector
