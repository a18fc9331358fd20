#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/codegen/config.h"
#include "worker/tune/search/effort.h"
#include "worker/tune/search/search_algorithm.h"

namespace telemetry::worker::tune {

struct SearchOptions {
  // One of SearchAlgorithmNames(). Empty: "finite" where there are finite_configs, else "surrogate".
  std::string algorithm;
  Effort effort = Effort::kQuick;
  uint64_t seed = 0;
  // Tried in the first generation, after the default config. Those that are no configs of the space become warnings().
  std::vector<codegen::Config> starting_points;
  // All that "finite" tries, whatever the effort.
  std::vector<codegen::Config> finite_configs;
  // The effort decides where these are not set. At least 1.
  std::optional<int> max_generations;
  std::optional<int> max_configs;
  // Optional: what a config makes of the kernel, such as a hash of its source. Of configs with one fingerprint only the
  // first is proposed, and none that has an error instead: what can be told without running it costs no trial. Called
  // from Propose; the same config must give the same answer.
  std::function<absl::StatusOr<std::string>(const codegen::Config&)> fingerprint;
};

// "finite", "random", "pattern", "differential_evolution", "surrogate".
const std::vector<std::string_view>& SearchAlgorithmNames();

// INVALID_ARGUMENT: an algorithm of another name, a limit below 1, "finite" without a single config of the space.
absl::StatusOr<std::unique_ptr<SearchAlgorithm>> MakeSearch(const codegen::ConfigSpace& space, SearchOptions options);

}  // namespace telemetry::worker::tune
