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
  std::optional<double> compile_s;  // the time of its compiler, also if it was ended before; unset: not known
};

// The interface of a search algorithm, which proposes the configs to measure next. It knows nothing of devices or
// clocks. Callers ask for configs and tell results, and may ask again while earlier configs have no result yet:
//
//   while (true) {
//     std::vector<Config> configs = search.Propose();
//     if (configs.empty() && unfinished.empty()) break;
//     search.Learn(SomeResultsOf(unfinished, configs));
//   }
//
// The proposals depend only on the space, the options (including the seed), and the results that were learnt before
// each of them, in their order. A caller that stops and later repeats the same calls gets the same proposals, which
// makes searches resumable. Random numbers are the same on every platform; the rounding of models is the same only
// within one build. Thread-compatible.
class SearchAlgorithm {
 public:
  virtual ~SearchAlgorithm() = default;

  // Returns the name that attempts record. Algorithms that Helion has, too, have Helion's class name ("PatternSearch").
  virtual std::string name() const = 0;
  // Returns distinct normalised configs of the space that were not proposed before. An empty list means that the search
  // needs more results first or, if every proposed config has a result, that it is over, now and in later calls.
  virtual std::vector<codegen::Config> Propose() = 0;
  // The number of the generation of the last proposed configs, from 0; -1 before the first. Numbers do not decrease.
  virtual int generation() const = 0;
  // Adds results of proposed configs. Ignores other configs, and those with a result.
  virtual void Learn(absl::Span<const Trial> trials) = 0;
  // One line for each starting point that could not be used, with the reason. Complete after the first Propose.
  virtual const std::vector<std::string>& warnings() const = 0;
};

}  // namespace telemetry::worker::tune::search
