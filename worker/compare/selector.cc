#include "worker/compare/selector.h"

#include <fnmatch.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "proto/base/since.h"
#include "proto/base/status_macros.h"
#include "proto/record/json.h"
#include "proto/record/strings.h"

namespace telemetry::worker::compare {
namespace {

using record::Cat;
using record::Json;

constexpr size_t kLeastCommitDigits = 7;
constexpr std::string_view kHexDigits = "0123456789abcdef";
constexpr const char* kCommitKeys[] = {"commit", "revision", "GITHUB_SHA", "CI_COMMIT_SHA", "BUILDKITE_COMMIT"};

absl::Status WrongSelector(std::string_view text, std::string_view why) {
  return absl::InvalidArgumentError(
      Cat("'", text, "': ", why, "; use origin=PATTERN, commit=DIGITS, dates=FROM..TO or device=PATTERN"));
}

bool Matches(const std::string& pattern, const std::string& text) {
  return fnmatch(pattern.c_str(), text.c_str(), FNM_NOESCAPE) == 0;
}

bool NamesCommit(const Json* object, const std::string& commit) {
  if (object == nullptr) return false;
  return std::any_of(std::begin(kCommitKeys), std::end(kCommitKeys), [&](const char* key) {
    const Json* const value = object->Find(key);
    return value != nullptr && value->kind == Json::Kind::kString && value->text.starts_with(commit);
  });
}

bool IsOfCommit(const v1::Attempt& attempt, const std::string& commit) {
  if (attempt.environment_json().empty()) return false;
  const absl::StatusOr<Json> environment = record::ParseJson(attempt.environment_json());
  return environment.ok() && (NamesCommit(&*environment, commit) || NamesCommit(environment->Find("ci"), commit));
}

}  // namespace

int64_t StartUnixUs(const v1::AttemptSummary& attempt) {
  return attempt.attempt().has_started_unix_us() ? attempt.attempt().started_unix_us()
                                                 : attempt.first_received_unix_us();
}

absl::StatusOr<Selector> Selector::Parse(const std::string& text, absl::Time now) {
  const size_t equals = text.find('=');
  const std::string key = text.substr(0, equals);
  if (equals == std::string::npos || equals + 1 == text.size()) return WrongSelector(text, "selects nothing");
  Selector selector;
  selector.text_ = text;
  selector.pattern_ = text.substr(equals + 1);
  if (key == "origin") {
    selector.kind_ = Kind::kOrigin;
  } else if (key == "device") {
    selector.kind_ = Kind::kDevice;
  } else if (key == "commit") {
    selector.kind_ = Kind::kCommit;
    if (selector.pattern_.size() < kLeastCommitDigits ||
        selector.pattern_.find_first_not_of(kHexDigits) != std::string::npos) {
      return WrongSelector(text, "a commit has at least 7 hex digits in lower case");
    }
  } else if (key == "dates") {
    selector.kind_ = Kind::kDates;
    RETURN_IF_ERROR(selector.ParseDates(selector.pattern_, now));
  } else {
    return WrongSelector(text, Cat("'", key, "' is not known"));
  }
  return selector;
}

absl::Status Selector::ParseDates(const std::string& value, absl::Time now) {
  const size_t dots = value.find("..");
  if (dots == std::string::npos) return WrongSelector(text_, "dates are FROM..TO");
  const auto parse = [&](const std::string& time, int64_t* unix_us) {
    if (time.empty()) return absl::OkStatus();
    const absl::StatusOr<absl::Time> point = ParseSince(time, now);
    if (!point.ok()) return WrongSelector(text_, std::string(point.status().message()));
    *unix_us = absl::ToUnixMicros(*point);
    return absl::OkStatus();
  };
  // A fraction of a second may contain dots, but not two in a row.
  RETURN_IF_ERROR(parse(value.substr(0, dots), &since_unix_us_));
  RETURN_IF_ERROR(parse(value.substr(dots + 2), &until_unix_us_));
  if (since_unix_us_ >= until_unix_us_) return WrongSelector(text_, "FROM is not before TO");
  return absl::OkStatus();
}

bool Selector::Selects(const v1::Run& run, const v1::AttemptSummary& attempt) const {
  switch (kind_) {
    case Kind::kOrigin:
      return Matches(pattern_, attempt.attempt().origin());
    case Kind::kCommit:
      return IsOfCommit(attempt.attempt(), pattern_);
    case Kind::kDates:
      return StartUnixUs(attempt) >= since_unix_us_ && StartUnixUs(attempt) < until_unix_us_;
    case Kind::kDevice:
      return Matches(pattern_, run.hardware());
  }
  return false;
}

}  // namespace telemetry::worker::compare
