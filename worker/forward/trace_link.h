#pragma once

#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "worker/forward/row_index.h"

namespace telemetry::worker::forward {

// The rule by which a trace is linked to an attempt (README.md, Traces). A trial is given by its outcome.

// Limit of the number of trials that identify a trace.
inline constexpr size_t kMostIdentifyingTrials = 32;

// Returns true if the trials identify their trace: two of them are measured, or there are kMostIdentifyingTrials.
bool AreIdentifying(absl::Span<const TimedOutcome> trials);

// Returns the number of trials that are among the first rows of an attempt, at the same time from the first row as from
// `first`. If some of the trials are measured, only those are counted: other outcomes may be equal in several
// processes.
size_t CountFound(absl::Span<const TimedOutcome> trials, const TimedOutcome& first,
                  absl::Span<const TimedOutcome> rows);

// Returns the candidate for which CountFound() is largest; of equals, the first one. There must be a candidate.
size_t ChooseAttempt(absl::Span<const TimedOutcome> trials, const TimedOutcome& first,
                     const std::vector<size_t>& candidates, const RowIndex& rows);

}  // namespace telemetry::worker::forward
