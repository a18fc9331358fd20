#pragma once

#include <vector>

#include "absl/types/span.h"
#include "worker/tune/measure/clock_watch.h"
#include "worker/tune/measure/measure.pb.h"
#include "worker/tune/measure/sampler.h"

namespace telemetry::worker::tune {

// Samples of several configs that are taken in turns. A round in which the clock was low for one is dropped for all, so
// that sample i of one config stays next to sample i of another.
class RoundSeries {
 public:
  RoundSeries(size_t configs, int rounds) : configs_(configs), wanted_(static_cast<size_t>(rounds)) {}

  // Rounds to take next; 0: it is enough, or so many were dropped that low clocks are how things are.
  int Next() const;
  // Rounds that count so far.
  int rounds() const { return static_cast<int>(counted_.size()); }
  // Whole rounds.
  void Add(absl::Span<const Sample> samples, const ClockWatch& watch);
  void Describe(size_t config, wire::Outcome* outcome) const;

 private:
  bool IsThrottledThroughout() const { return counted_.size() < wanted_ && dropped_.size() >= 2 * wanted_; }

  const size_t configs_;
  const size_t wanted_;
  std::vector<std::vector<Sample>> counted_;
  std::vector<std::vector<Sample>> dropped_;
};

}  // namespace telemetry::worker::tune
