#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/codegen/config.h"
#include "worker/replay/stored_run.h"
#include "worker/replay/stored_space.h"
#include "worker/tune/search/predicted_times.h"
#include "worker/tune/search/related_runs.h"

namespace telemetry::worker::replay {

// The only code here that knows the interface of the search algorithms.

// The options of a search, as in search::SearchOptions.
struct SearchChoice {
  std::string algorithm;         // empty: the default
  std::string effort = "quick";  // "quick" or "full"
  std::optional<int> max_configs;
  std::vector<codegen::Config> starting_points;  // measured after the default config
  std::vector<tune::search::RelatedRun> related;
  tune::search::PredictTime predict;
};

// A config that a search proposed.
struct ReplayedTrial {
  double end_s = 0;               // simulated time of its result since the start of the search
  std::optional<double> perf_ms;  // unset: it failed
};

// Returns the algorithms that can be replayed: all but "finite".
std::vector<std::string> ReplayableAlgorithms();

// Runs a search until it is over and returns its trials in the order of the simulated clock. The clock advances by the
// cost of each config, one after the other; the time that the algorithm itself takes is not counted. Depends only on
// the arguments. INVALID_ARGUMENT: the algorithm or effort is not known or cannot be replayed.
absl::StatusOr<std::vector<ReplayedTrial>> ReplaySearch(const StoredRun& run, const StoredSpace& space,
                                                        const SearchChoice& choice, uint64_t seed);

}  // namespace telemetry::worker::replay
