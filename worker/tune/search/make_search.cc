#include "worker/tune/search/make_search.h"

#include <algorithm>
#include <utility>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/tune/search/differential_evolution.h"
#include "worker/tune/search/finite_search.h"
#include "worker/tune/search/pattern_search.h"
#include "worker/tune/search/random_search.h"
#include "worker/tune/search/surrogate_search.h"

namespace telemetry::worker::tune::search {
namespace {

using codegen::Config;
using codegen::ConfigSpace;
using record::Cat;

constexpr int kUnlimited = 1 << 30;
// Configs of the first generation if results of related runs or a cost model are known: they replace most random
// points.
constexpr int kFirstWithPrior = 15;

// The limits of an algorithm at an effort. Quick searches end at max_configs; full searches end after max_generations
// or when they stop gaining. The sizes of full efforts are Helion's.
struct Sizes {
  SearchLimits limits;
  size_t width;  // the constructor's copies, members or batch
};

Sizes ChooseSizes(std::string_view algorithm, Effort effort) {
  const bool quick = effort == Effort::kQuick;
  constexpr int kQuickConfigs = 200;
  if (algorithm == "random") {
    if (quick) return {{.first_generation = 50, .max_generations = 4, .max_configs = kQuickConfigs}, 0};
    return {{.first_generation = 100, .max_generations = 10, .max_configs = 1000}, 0};
  }
  if (algorithm == "pattern") {
    if (quick) return {{.first_generation = 30, .max_generations = 12, .max_configs = kQuickConfigs}, 2};
    return {{.first_generation = 100, .max_generations = 20, .max_configs = 2000, .patience = 4}, 5};
  }
  if (algorithm == "differential_evolution") {
    if (quick) return {{.first_generation = 40, .max_generations = 9, .max_configs = kQuickConfigs}, 20};
    return {{.first_generation = 80, .max_generations = 40, .max_configs = 1640, .patience = 8}, 40};
  }
  if (quick) return {{.first_generation = 30, .max_generations = 12, .max_configs = kQuickConfigs}, 20};
  return {{.first_generation = 100, .max_generations = 20, .max_configs = 1000, .patience = 5}, 48};
}

std::unique_ptr<SearchAlgorithm> Make(std::string_view algorithm, const ConfigSpace& space, SearchSetup setup,
                                      size_t width, const SearchOptions& options) {
  if (algorithm == "random") return std::make_unique<RandomSearch>(space, std::move(setup));
  if (algorithm == "pattern") return std::make_unique<PatternSearch>(space, std::move(setup), width);
  if (algorithm == "differential_evolution") {
    return std::make_unique<DifferentialEvolution>(space, std::move(setup), width);
  }
  RelatedModel model(PointSpace(space), options.related);
  if (setup.predict || model.has_times()) {
    setup.limits.first_generation = std::min(setup.limits.first_generation, kFirstWithPrior);
  }
  return std::make_unique<SurrogateSearch>(space, std::move(setup), width, std::move(model), options.earlier);
}

// Returns a search with one generation and without random points.
std::unique_ptr<SearchAlgorithm> MakeFinite(const ConfigSpace& space, SearchSetup setup, const SearchOptions& options) {
  setup.limits = {.first_generation = 0, .max_generations = 1, .max_configs = options.max_configs.value_or(kUnlimited)};
  setup.predict = {};
  return std::make_unique<FiniteSearch>(space, std::move(setup));
}

absl::Status CheckFinite(const ConfigSpace& space, const std::vector<Config>& configs) {
  if (configs.empty()) return absl::InvalidArgumentError("the finite search has no configs; pass at least one");
  absl::Status first;
  for (const Config& config : configs) {
    absl::Status status = space.Normalize(config).status();
    if (status.ok()) return status;
    first.Update(status);
  }
  return absl::InvalidArgumentError(
      Cat("none of the ", configs.size(),
          " configs of the finite search is valid for this kernel; the first error: ", first.message()));
}

absl::Status CheckLimit(std::string_view name, const std::optional<int>& limit) {
  if (!limit || *limit >= 1) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat("invalid ", name, "=", *limit, " of a search: must be at least 1"));
}

absl::StatusOr<std::string> ChooseAlgorithm(const SearchOptions& options) {
  if (options.algorithm.empty()) return options.finite_configs.empty() ? "surrogate" : "finite";
  const auto& names = SearchAlgorithmNames();
  if (std::find(names.begin(), names.end(), options.algorithm) != names.end()) return options.algorithm;
  std::string known;
  for (const std::string_view name : names) known += Cat(known.empty() ? "" : ", ", name);
  return absl::InvalidArgumentError(Cat("unknown search algorithm '", options.algorithm, "'; choose one of ", known));
}

}  // namespace

const std::vector<std::string_view>& SearchAlgorithmNames() {
  static const auto* const names =
      new std::vector<std::string_view>{"finite", "random", "pattern", "differential_evolution", "surrogate"};
  return *names;
}

// With a cost model, results decide which points are left out.
bool Learns(const SearchOptions& options) { return options.algorithm != "random" || options.predict != nullptr; }

absl::StatusOr<std::unique_ptr<SearchAlgorithm>> MakeSearch(const ConfigSpace& space, SearchOptions options) {
  ASSIGN_OR_RETURN(const std::string algorithm, ChooseAlgorithm(options));
  if (auto status = CheckLimit("max_generations", options.max_generations); !status.ok()) return status;
  if (auto status = CheckLimit("max_configs", options.max_configs); !status.ok()) return status;
  if (auto status = CheckLimit("most_at_once", options.most_at_once); !status.ok()) return status;
  SearchSetup setup = {.seed = options.seed,
                       .starting_points = std::move(options.starting_points),
                       .fingerprint = std::move(options.fingerprint),
                       .predict = options.predict};
  if (Learns(options)) setup.least_ms = std::move(options.least_ms);
  if (options.most_at_once) setup.most_at_once = static_cast<size_t>(*options.most_at_once);
  if (algorithm == "finite") {
    if (auto status = CheckFinite(space, options.finite_configs); !status.ok()) return status;
    setup.starts_with_default = false;
    setup.starting_points = std::move(options.finite_configs);
    return MakeFinite(space, std::move(setup), options);
  }
  if (options.effort == Effort::kNone) return MakeFinite(space, std::move(setup), options);
  if (Learns(options)) setup.code_size = std::move(options.code_size);
  const Sizes sizes = ChooseSizes(algorithm, options.effort);
  setup.limits = sizes.limits;
  setup.limits.max_generations = options.max_generations.value_or(setup.limits.max_generations);
  setup.limits.max_configs = options.max_configs.value_or(setup.limits.max_configs);
  return Make(algorithm, space, std::move(setup), sizes.width, options);
}

}  // namespace telemetry::worker::tune::search
