#include "proto/base/since.h"

#include <optional>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace telemetry {
namespace {

std::optional<absl::Duration> ParseAge(const std::string& text) {
  // The largest unit of absl::ParseDuration() is the hour.
  int days = 0;
  if (absl::EndsWith(text, "d") && absl::SimpleAtoi(text.substr(0, text.size() - 1), &days)) {
    return absl::Hours(24) * days;
  }
  absl::Duration age;
  if (absl::ParseDuration(text, &age)) return age;
  return std::nullopt;
}

std::optional<absl::Time> ParsePoint(const std::string& text) {
  absl::Time time;
  std::string error;
  if (absl::ParseTime(absl::RFC3339_full, text, &time, &error)) return time;
  if (absl::ParseTime("%Y-%m-%d", text, &time, &error)) return time;
  return std::nullopt;
}

}  // namespace

absl::StatusOr<absl::Time> ParseSince(const std::string& text, absl::Time now) {
  std::optional<absl::Time> time = ParsePoint(text);
  if (!time.has_value()) {
    std::optional<absl::Duration> age = ParseAge(text);
    if (age.has_value() && *age >= absl::ZeroDuration()) time = now - *age;
  }
  if (!time.has_value() || *time < absl::UnixEpoch() || *time == absl::InfiniteFuture()) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", text, "' is not a time: use 2025-03-01T12:00:00Z, 2025-03-01, or an age like 24h or 7d"));
  }
  return *time;
}

}  // namespace telemetry
