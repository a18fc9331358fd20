#pragma once

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/codegen/config.h"
#include "worker/runtime/argument.h"

namespace telemetry::worker::runtime {

class BoundKernel;

// A search for the fastest config of a bound kernel, used to autotune a kernel without fixed configs. Implementations
// document their thread rules. A kernel calls Find on the thread that called Autotune or Run, and one call at a time
// per BoundKernel.
class Search {
 public:
  virtual ~Search() = default;
  // Returns a config of kernel.config_space(), measured with these arguments. Find may compile and run any number of
  // configs, but does not set one. If `force` is true, it measures even if results for this call are known.
  virtual absl::StatusOr<codegen::Config> Find(BoundKernel& kernel, absl::Span<const Argument> arguments,
                                               bool force) = 0;
};

}  // namespace telemetry::worker::runtime
