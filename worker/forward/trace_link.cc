#include "worker/forward/trace_link.h"

#include <algorithm>
#include <cmath>

#include "worker/forward/attempt_identity.h"

namespace telemetry::worker::forward {
namespace {

// The limits of AttemptIdentity, so that a trace is identified when its attempt has its final id.
constexpr ptrdiff_t kIdentifyingMeasured = AttemptIdentity::kMeasuredRows;
static_assert(kMostIdentifyingTrials == AttemptIdentity::kMaxLinks);

bool IsMeasured(const TimedOutcome& outcome) { return outcome.is_measured; }

}  // namespace

bool AreIdentifying(absl::Span<const TimedOutcome> trials) {
  return trials.size() >= kMostIdentifyingTrials ||
         std::count_if(trials.begin(), trials.end(), IsMeasured) >= kIdentifyingMeasured;
}

size_t CountFound(absl::Span<const TimedOutcome> trials, const TimedOutcome& first,
                  absl::Span<const TimedOutcome> rows) {
  const double offset_s = first.at_s - rows.front().at_s;
  const bool only_measured = std::any_of(trials.begin(), trials.end(), IsMeasured);
  const auto is_found = [&](const TimedOutcome& trial) {
    return (trial.is_measured || !only_measured) && std::any_of(rows.begin(), rows.end(), [&](const TimedOutcome& row) {
             return row.key == trial.key && std::abs(trial.at_s - offset_s - row.at_s) <= RowIndex::kToleranceS;
           });
  };
  return static_cast<size_t>(std::count_if(trials.begin(), trials.end(), is_found));
}

size_t ChooseAttempt(absl::Span<const TimedOutcome> trials, const TimedOutcome& first,
                     const std::vector<size_t>& candidates, const RowIndex& rows) {
  const auto is_worse = [&](size_t a, size_t b) {
    return CountFound(trials, first, rows.FirstRows(a)) < CountFound(trials, first, rows.FirstRows(b));
  };
  return *std::max_element(candidates.begin(), candidates.end(), is_worse);
}

}  // namespace telemetry::worker::forward
