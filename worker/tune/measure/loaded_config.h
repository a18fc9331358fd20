#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/device/device.h"
#include "worker/tune/measure/measure.pb.h"
#include "worker/tune/measure/problem_memory.h"

namespace telemetry::worker::tune::measure {

// One config's code on the device, with the arguments of its launches. The memory must outlive it.
class LoadedConfig {
 public:
  // INVALID_ARGUMENT: an argument is not one of the problem's buffers. Other errors are those of Load and GetFunction.
  static absl::StatusOr<std::unique_ptr<LoadedConfig>> Load(device::Device* device, const ProblemMemory& memory,
                                                            const wire::Config& config);

  // Returns the properties that the compiler and the device report.
  wire::Attributes attributes() const;

  // Queues one launch. Returns the errors of Function::Launch.
  absl::Status Launch() { return function_->Launch(shape_, arguments_); }

 private:
  LoadedConfig(std::unique_ptr<device::Module> module, std::unique_ptr<device::Function> function,
               device::LaunchShape shape)
      : module_(std::move(module)), function_(std::move(function)), shape_(shape) {}

  const std::unique_ptr<device::Module> module_;
  const std::unique_ptr<device::Function> function_;
  const device::LaunchShape shape_;
  std::vector<device::LaunchArgument> arguments_;
  size_t binary_bytes_ = 0;
  int threads_per_unit_ = 0;
};

}  // namespace telemetry::worker::tune::measure
