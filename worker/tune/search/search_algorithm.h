#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "worker/codegen/config.h"

namespace telemetry::worker::tune {

// What became of a config that a search proposed. perf_ms is set only where the config ran and was right; values that
// are not finite or not above 0 count as not set.
struct Trial {
  codegen::Config config;
  std::optional<double> perf_ms;
};

// Decides what is tried next; knows nothing of devices or clocks. Propose and Learn take turns:
//
//   for (auto generation = search.Propose(); !generation.empty(); generation = search.Propose()) {
//     search.Learn(Measure(generation));
//   }
//
// The sequence of generations follows from the space, the options (their seed among them) and what was learnt: who
// stops half way and later repeats the same answers is asked the same questions. Random numbers are the same on every
// platform; a model's rounding, in "surrogate", is the same in the same build. One thread at a time.
class SearchAlgorithm {
 public:
  virtual ~SearchAlgorithm() = default;

  // As telemetry records it: Helion's class names where the algorithm is Helion's ("PatternSearch").
  virtual std::string name() const = 0;
  // Distinct normalised configs of the space, none proposed before. Empty: the search is over, and stays so.
  virtual std::vector<codegen::Config> Propose() = 0;
  // Every config of the last generation, in its order. Those that were not run have no perf_ms; nor have those that are
  // missing.
  virtual void Learn(absl::Span<const Trial> trials) = 0;
  // What of the options could not be used, and why: a line for each starting point that is no config of the space.
  virtual const std::vector<std::string>& warnings() const = 0;
};

}  // namespace telemetry::worker::tune
