#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/codegen/code_size.h"
#include "worker/codegen/config_space.h"
#include "worker/tune/search/effort.h"
#include "worker/tune/search/predicted_times.h"
#include "worker/tune/search/related_runs.h"
#include "worker/tune/search/search_algorithm.h"

namespace telemetry::worker::tune::search {

// The options of MakeSearch.
struct SearchOptions {
  // One of SearchAlgorithmNames(). Empty: "finite" if there are finite_configs, else "surrogate".
  std::string algorithm;
  Effort effort = Effort::kQuick;
  uint64_t seed = 0;
  // Proposed in the first generation, after the default config. Configs that are not valid in the space give
  // warnings().
  std::vector<codegen::Config> starting_points;
  // Results of related runs, the nearest first, for "surrogate"; the first kMostRelatedRuns are used.
  std::vector<RelatedRun> related;
  // Optional. The predictions of a cost model: a prior of "surrogate", and for all algorithms but "finite" a reason to
  // leave out configs that it expects to be much slower than the best result, once its error is known (Pruning).
  PredictTime predict;
  // The results of an earlier search with the same other options, in their order. "surrogate" proposes the same configs
  // as long as its own results agree with these.
  std::vector<Trial> earlier;
  // The configs that "finite" proposes, for any effort.
  std::vector<codegen::Config> finite_configs;
  // At least 1. Unset: the effort decides.
  std::optional<int> max_generations;
  std::optional<int> max_configs;
  // The most configs that Propose returns after the first generation, at least 1; unset: a whole generation. Fewer
  // configs are proposed with more results known. Algorithms that wait for all results of a generation ignore it.
  std::optional<int> most_at_once;
  // Optional. Returns a fingerprint of the code that a config generates, such as a hash of its source. A config is not
  // proposed if its fingerprint equals that of an earlier config or is an error, so that duplicates and failures known
  // without running the config do not use up trials. The surrogate search learns from errors which configs to avoid.
  // Called from Propose; must be deterministic.
  std::function<absl::StatusOr<std::string>(const codegen::Config&)> fingerprint;
  // Optional. Returns an estimate from below of the time of a config in ms. A config is not proposed if this time is
  // above kLeastOfBest times the best result, unless the search repeats an earlier one that proposed it. The surrogate
  // search learns from it as from the errors of `fingerprint`, which is called for the config before. "random" without
  // a cost model ignores it. Called from Propose; must be deterministic.
  std::function<double(const codegen::Config&)> least_ms;
  // Optional. Returns the size of the code of a config. A config that is expected to compile for much longer than
  // others is not proposed (CompileTimes), with the same exceptions as of `least_ms`. Called from Propose and Learn;
  // must be deterministic.
  std::function<codegen::CodeSize(const codegen::Config&)> code_size;
};

// Returns "finite", "random", "pattern", "differential_evolution" and "surrogate".
const std::vector<std::string_view>& SearchAlgorithmNames();

// Returns false if proposals do not depend on results, so that callers may ask for many before there are any.
bool Learns(const SearchOptions& options);

// Returns INVALID_ARGUMENT for an unknown algorithm, a limit below 1, or "finite" without any valid config of the
// space.
absl::StatusOr<std::unique_ptr<SearchAlgorithm>> MakeSearch(const codegen::ConfigSpace& space, SearchOptions options);

}  // namespace telemetry::worker::tune::search
