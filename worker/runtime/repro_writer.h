#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "worker/codegen/config.h"
#include "worker/runtime/argument.h"

namespace telemetry::worker::runtime {

class BoundKernel;

// A writer of programs that repeat one call of a kernel (worker/repro/call_program.h). Thread-safe.
class ReproWriter {
 public:
  virtual ~ReproWriter() = default;
  // Writes the program of a call with this config. `reason` says why: the error of the call, or what its caller wants
  // to examine. The memory of the arguments may be lost, because the call made the device unusable.
  virtual absl::Status Write(const BoundKernel& kernel, const codegen::Config& config,
                             absl::Span<const Argument> arguments, const std::string& reason) = 0;
};

}  // namespace telemetry::worker::runtime
