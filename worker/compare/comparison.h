#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proto/statistics/change.h"
#include "worker/compare/attempt_times.h"
#include "worker/compare/run_sides.h"

namespace telemetry::worker::compare {

// The result of a comparison. kUnsure: no alarm, but the measurements could not show a change that matters.
enum class Verdict { kSlower, kFaster, kUnsure, kSame, kNew, kGone };
inline constexpr std::array<Verdict, 6> kVerdicts = {Verdict::kSlower, Verdict::kFaster, Verdict::kUnsure,
                                                     Verdict::kSame,   Verdict::kNew,    Verdict::kGone};

// Returns "slower", "faster", "unsure", "same", "new" or "gone".
std::string_view NameOf(Verdict verdict);

// The rules of verdicts.
struct CompareOptions {
  // The least relative change that is called slower or faster: 0.015 for 1.5%.
  double threshold = 0.015;
  // The probability that a comparison of equal code calls any of its runs slower or faster.
  double false_alarms = 0.001;
  // Attempts that each side needs at least for such a call. With 2, two throttled attempts of a side may decide; with
  // 1, a single one.
  size_t least_attempts = 3;
};

// One time of a run on both sides.
struct TimeComparison {
  TimeKind kind = TimeKind::kBest;
  size_t base_attempts = 0;  // with this time
  size_t head_attempts = 0;
  std::optional<statistics::SideTime> base;  // milliseconds; unset: no attempt has this time
  std::optional<statistics::SideTime> head;
  std::optional<statistics::Change> change;  // unset: a side has no attempt with this time
  double adjusted_p = 1;                     // the change's p-value, adjusted for the number of tests
  double detectable = 0;                     // smallest relative change that could have been called; may be infinite
  Verdict verdict = Verdict::kUnsure;
  std::string reason;  // of kUnsure, for a person; else empty
};

// A run on both sides.
struct RunComparison {
  RunKey key;
  size_t base_attempts = 0;
  size_t head_attempts = 0;
  // The times that a side has, in the order of TimeKind.
  std::vector<TimeComparison> times;
  // kNew or kGone if one side has no attempt; else the first of kSlower, kFaster, kUnsure, kSame that a time has.
  Verdict verdict = Verdict::kUnsure;
  // Remarks on the quality of the measurements, for a person.
  std::vector<std::string> remarks;
};

// Compares the sides of each run. The results have the order of `runs`, each of which has at least one attempt.
//
// statistics::CompareAttempts() tests each time, with the noise of that kind of time in all runs on the same device as
// its prior. A time is called slower or faster if its change is at least the threshold, and if its p-value, adjusted by
// Holm's method for all times of all runs, is at most `false_alarms`. Times without such a change are the same if a
// change of twice the threshold would have been found, else unsure. A time that is slower is unsure if the lower clock
// of the head explains it.
std::vector<RunComparison> CompareRuns(const std::vector<RunSides>& runs, const CompareOptions& options);

}  // namespace telemetry::worker::compare
