#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace telemetry::http {

// The most segments of a path and the most parameters of a query.
inline constexpr size_t kMostSegments = 32;
inline constexpr size_t kMostParameters = 128;

// The target of a request: a path and its query, decoded.
struct Target {
  std::string path;  // begins with '/'
  std::vector<std::string> segments;
  std::vector<std::pair<std::string, std::string>> query;  // in their order

  // Returns the first value of this name, or nullopt.
  std::optional<std::string> Find(std::string_view name) const;
  std::vector<std::string> FindAll(std::string_view name) const;
};

// Parses the target of a request in origin form: "/runs?kernel=softmax&limit=10". INVALID_ARGUMENT: another form; a bad
// percent-encoding; an empty segment other than the last, "." or ".."; a backslash, a control character or invalid
// UTF-8 in the decoded text; too many segments or parameters.
absl::StatusOr<Target> ParseTarget(std::string_view target);

// Decodes %XX; with `plus_is_space` also '+'. Returns nullopt for an incomplete or wrong encoding.
std::optional<std::string> PercentDecode(std::string_view text, bool plus_is_space);

}  // namespace telemetry::http
