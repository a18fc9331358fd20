#pragma once

#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "worker/tune/measure/clock_watch.h"
#include "worker/tune/measure/measure.pb.h"
#include "worker/tune/measure/sampler.h"

namespace telemetry::worker::tune::measure {

// Samples of several configs that are taken in turns. A round in which the clock was low for one config is dropped for
// all, so that sample i of each config is from the same round.
class RoundSeries {
 public:
  RoundSeries(size_t configs, int rounds) : configs_(configs), wanted_(static_cast<size_t>(rounds)) {}

  // Returns the number of rounds to take next. 0: there are enough, or so many were dropped that the low clock is the
  // normal state.
  int Next() const;
  // Returns the number of rounds that count so far.
  int rounds() const { return static_cast<int>(counted_.size()); }
  // Adds samples of complete rounds.
  void Add(absl::Span<const Sample> samples, const ClockWatch& watch);
  // Returns how long the device should rest before the next rounds if it took `took` for the last ones: a clock that
  // was lowered because of power may rise again. 0 if no clock was low. All rests together are at most kMostRest.
  absl::Duration Rest(absl::Duration took);
  void Describe(size_t config, wire::Outcome* outcome) const;

  static constexpr absl::Duration kMostRest = absl::Seconds(1);

 private:
  bool IsThrottledThroughout() const { return counted_.size() < wanted_ && dropped_.size() >= 2 * wanted_; }

  const size_t configs_;
  const size_t wanted_;
  std::vector<std::vector<Sample>> counted_;
  std::vector<std::vector<Sample>> dropped_;
  bool was_low_ = false;  // a clock in the last rounds
  absl::Duration rested_;
};

}  // namespace telemetry::worker::tune::measure
