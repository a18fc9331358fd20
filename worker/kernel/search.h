#pragma once

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/codegen/config.h"
#include "worker/kernel/argument.h"

namespace telemetry::worker {

class BoundKernel;

// Looks for the fastest config of a bound kernel: what autotuning a kernel without fixed configs asks. Implementations
// say which threads may call them; kernels call from the thread that was asked to autotune, once at a time per
// BoundKernel.
class Search {
 public:
  virtual ~Search() = default;
  // A config of kernel.config_space(), measured with these arguments. It may compile and run any number of them; it
  // does not set one. `force`: measures, whatever is known of this call.
  virtual absl::StatusOr<codegen::Config> Find(BoundKernel& kernel, absl::Span<const Argument> arguments,
                                               bool force) = 0;
};

}  // namespace telemetry::worker
