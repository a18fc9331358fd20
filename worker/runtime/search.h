#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "worker/codegen/config.h"
#include "worker/runtime/argument.h"

namespace telemetry::worker::runtime {

class BoundKernel;

// The options of one call of Autotune. Unset members leave the choice to the Search.
struct AutotuneOptions {
  // Measure even if a result of an earlier call is known.
  bool force = false;
  // The configs to choose from. Empty: the kernel's fixed configs, unless `force` is set; without these any config.
  std::vector<codegen::Config> configs;
  std::string effort;     // "none", "quick" or "full"
  std::string algorithm;  // one of search::SearchAlgorithmNames
  std::optional<uint64_t> seed;
  std::optional<absl::Duration> time_budget;
};

// A search for the fastest config of a bound kernel. Implementations document their thread rules. A kernel calls Find
// on the thread that called Autotune or Run, and one call at a time per BoundKernel.
class Search {
 public:
  virtual ~Search() = default;
  // Returns one of options.configs or, if there are none, a config of kernel.config_space(), measured with these
  // arguments. Find may compile and run any number of configs, but does not set one. INVALID_ARGUMENT: an option is not
  // valid.
  virtual absl::StatusOr<codegen::Config> Find(BoundKernel& kernel, absl::Span<const Argument> arguments,
                                               const AutotuneOptions& options) = 0;
};

}  // namespace telemetry::worker::runtime
