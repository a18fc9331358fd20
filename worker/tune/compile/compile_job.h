#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "worker/device/device.h"

namespace telemetry::worker::tune {

struct CompileJob {
  std::string source;
  Dialect dialect = Dialect::kCuda;
  std::string target;  // CUDA: the architecture, "sm_90"; OpenCL: the device, "opencl:0"
};

struct CompileResult {
  //   INVALID_ARGUMENT      the source does not compile: the compiler's log
  //   DEADLINE_EXCEEDED     the compiler took longer than the time limit, and was killed
  //   INTERNAL              the compiler process died (the signal, the end of what it printed), or failed in itself
  //   UNAVAILABLE           there is no such compiler here, or its process cannot be started
  //   NOT_FOUND             there is no such OpenCL device
  //   CANCELLED             by CompilePool::Cancel, or the pool's end
  absl::StatusOr<CompiledCode> code = absl::CancelledError();
  double seconds = 0;         // of compiling; of waiting where the compiler did not live to say. 0: deduplicated
  bool deduplicated = false;  // it is the result of an equal job

  // What the compiler said, whether it compiled or not.
  std::string log() const { return code.ok() ? code->log : std::string(code.status().message()); }
};

// Equal for jobs whose results are interchangeable: 32 bytes.
std::string KeyOf(const CompileJob& job);

}  // namespace telemetry::worker::tune
