#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "telemetry/v1/dataset.pb.h"

namespace telemetry::worker::compare {

// Returns the start of an attempt, or, if it is not known, the time when the collector first received it: microseconds
// since the Unix epoch.
int64_t StartUnixUs(const v1::AttemptSummary& attempt);

// Selects the attempts of one side of a comparison.
class Selector {
 public:
  enum class Kind { kOrigin, kCommit, kDates, kDevice };

  // Parses a selector. Patterns contain `*` for any text and `?` for any character.
  //   origin=PATTERN   attempts with such an origin
  //   commit=DIGITS    attempts of a CI job of this commit, at least 7 hex digits of it: the environment of the
  //   attempt,
  //                    or its member `ci`, contains it as commit, revision, GITHUB_SHA, CI_COMMIT_SHA or
  //                    BUILDKITE_COMMIT
  //   dates=FROM..TO   attempts that started at or after FROM and before TO, each in a form of ParseSince(). An empty
  //   end
  //                    is open
  //   device=PATTERN   attempts of runs on such a device
  // Returns INVALID_ARGUMENT, with the text, for any other text.
  static absl::StatusOr<Selector> Parse(const std::string& text, absl::Time now);

  const std::string& text() const { return text_; }
  Kind kind() const { return kind_; }
  bool Selects(const v1::Run& run, const v1::AttemptSummary& attempt) const;
  // Returns the first start of an attempt that the selector may select, in microseconds since the Unix epoch. 0: all.
  int64_t since_unix_us() const { return kind_ == Kind::kDates ? since_unix_us_ : 0; }

 private:
  Selector() = default;
  absl::Status ParseDates(const std::string& value, absl::Time now);

  std::string text_;
  Kind kind_ = Kind::kOrigin;
  std::string pattern_;
  int64_t since_unix_us_ = 0;
  int64_t until_unix_us_ = INT64_MAX;
};

}  // namespace telemetry::worker::compare
