#include "worker/replay/replayed_search.h"

#include <algorithm>
#include <memory>

#include "absl/strings/str_join.h"
#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/tune/search/make_search.h"

namespace telemetry::worker::replay {

namespace search = tune::search;
using codegen::Config;

std::vector<std::string> ReplayableAlgorithms() {
  std::vector<std::string> names;
  for (const std::string_view name : search::SearchAlgorithmNames()) {
    if (name != "finite") names.emplace_back(name);
  }
  return names;
}

absl::StatusOr<std::vector<ReplayedTrial>> ReplaySearch(const StoredRun& run, const StoredSpace& space,
                                                        const SearchChoice& choice, uint64_t seed) {
  ASSIGN_OR_RETURN(const search::Effort effort, search::ParseEffort(choice.effort));
  const std::vector<std::string> known = ReplayableAlgorithms();
  if (!choice.algorithm.empty() && std::find(known.begin(), known.end(), choice.algorithm) == known.end()) {
    return absl::InvalidArgumentError(record::Cat("the search algorithm '", choice.algorithm,
                                                  "' cannot be replayed; choose among ", absl::StrJoin(known, ", ")));
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<search::SearchAlgorithm> algorithm,
                   search::MakeSearch(space.space(), {.algorithm = choice.algorithm,
                                                      .effort = effort,
                                                      .seed = seed,
                                                      .starting_points = choice.starting_points,
                                                      .related = choice.related,
                                                      .predict = choice.predict,
                                                      .finite_configs = {},
                                                      .max_generations = {},
                                                      .max_configs = choice.max_configs,
                                                      .fingerprint = {}}));
  std::vector<ReplayedTrial> trials;
  double clock_s = 0;
  for (auto configs = algorithm->Propose(); !configs.empty(); configs = algorithm->Propose()) {
    std::vector<search::Trial> results;
    for (const Config& config : configs) {
      const std::optional<size_t> position = space.Find(config);
      if (!position) {
        return absl::InternalError(record::Cat(config.ToString(), ": the search proposed a config outside its space"));
      }
      const StoredConfig& stored = run.configs[*position];
      clock_s += stored.cost_s;
      results.push_back({config, stored.perf_ms});
      trials.push_back({.end_s = clock_s, .perf_ms = stored.perf_ms});
    }
    algorithm->Learn(results);
  }
  return trials;
}

}  // namespace telemetry::worker::replay
