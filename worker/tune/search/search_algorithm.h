#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "worker/codegen/config.h"

namespace telemetry::worker::tune::search {

// The result of a config that a search proposed. perf_ms is set only if the config ran with correct results. A value
// that is not finite or not positive counts as unset.
struct Trial {
  codegen::Config config;
  std::optional<double> perf_ms;
};

// The interface of a search algorithm, which proposes the configs to measure next. It knows nothing of devices or
// clocks. Callers alternate Propose and Learn:
//
//   for (auto generation = search.Propose(); !generation.empty(); generation = search.Propose()) {
//     search.Learn(Measure(generation));
//   }
//
// The sequence of generations depends only on the space, the options (including the seed) and the learnt results. A
// caller that stops and later repeats the same results gets the same proposals, which makes searches resumable. Random
// numbers are the same on every platform; the rounding of the model in "surrogate" is the same only within one build.
// Thread-compatible.
class SearchAlgorithm {
 public:
  virtual ~SearchAlgorithm() = default;

  // Returns the name that attempts record. Algorithms that Helion has, too, have Helion's class name ("PatternSearch").
  virtual std::string name() const = 0;
  // Returns distinct normalised configs of the space that were not proposed before. Returns an empty list, now and in
  // later calls, if the search is over.
  virtual std::vector<codegen::Config> Propose() = 0;
  // Adds the results of the last generation, in any order. A config without a result counts as one without perf_ms.
  virtual void Learn(absl::Span<const Trial> trials) = 0;
  // One line for each starting point that could not be used, with the reason. Complete after the first Propose.
  virtual const std::vector<std::string>& warnings() const = 0;
};

}  // namespace telemetry::worker::tune::search
