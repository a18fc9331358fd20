#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "client/cache_client.h"

namespace telemetry::worker::cache {

// The version of the protocol in README.md.
inline constexpr int kStdioProtocol = 1;

// Returns the answer to one line of the protocol, without a line feed.
std::string AnswerLine(std::string_view line, client::CacheClient& client);

// Answers the lines of `in`, in their order, until its end. Flushes each answer.
void ServeLines(std::istream& in, std::ostream& out, client::CacheClient& client);

}  // namespace telemetry::worker::cache
