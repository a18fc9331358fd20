#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "worker/device/device.h"

namespace telemetry::worker::tune::compile {

// One source to compile.
struct CompileJob {
  std::string source;
  device::Dialect dialect = device::Dialect::kCuda;
  std::string target;  // CUDA: the architecture, "sm_90"; OpenCL: the device, "opencl:0"
};

// The result of a compilation.
struct CompileResult {
  // Errors:
  //   INVALID_ARGUMENT      the source does not compile; the message is the compiler's log
  //   DEADLINE_EXCEEDED     the compiler exceeded the time limit and was killed
  //   RESOURCE_EXHAUSTED    the compiler exceeded the memory limit and was killed
  //   INTERNAL              the compiler process died (the message has the signal and the end of its output), or failed
  //   UNAVAILABLE           there is no such compiler here, or its process cannot be started
  //   NOT_FOUND             there is no such OpenCL device
  //   CANCELLED             by CompilePool::Cancel, or by the destructor of the pool
  absl::StatusOr<device::CompiledCode> code = absl::CancelledError();
  // Compile time: of the equal job if deduplicated, and in an earlier attempt if from_folder. The waiting time if the
  // compiler died or was killed.
  double seconds = 0;
  bool deduplicated = false;  // true: the result of an equal job
  bool from_folder = false;   // true: from the pool's code folder

  // Returns the compiler's output, for success and failure.
  std::string log() const { return code.ok() ? code->log : std::string(code.status().message()); }
};

// Returns the job that compiles a source for a device, whose id is "cuda:0" or "opencl:0".
CompileJob MakeJob(std::string source, const device::Device& device);

// Returns a job with a small source for CompilerGroup::Prewarm.
CompileJob WarmUpJob(const device::DeviceProperties& properties);

// Returns a key of 32 bytes. Jobs with the same key have interchangeable results.
std::string JobKey(const CompileJob& job);

}  // namespace telemetry::worker::tune::compile
