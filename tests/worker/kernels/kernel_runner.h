#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/codegen/config.h"
#include "worker/device/device.h"
#include "worker/kernel/kernel.h"
#include "worker/kernel/settings.h"
#include "worker/kernels/library.h"

namespace telemetry::worker::kernels {

// Returns the device that TELEMETRY_TEST_DEVICE names, by default "opencl:0". Opens it once; aborts if it cannot be
// opened.
std::shared_ptr<Device> TestDevice();

// Reports whether TELEMETRY_ALL_CONFIGS requests all configs instead of a sample that needs about a minute.
bool AllConfigs();

// A library kernel on the test device.
class KernelRunner {
 public:
  // By default, f32 dots have full f32 precision (no tf32).
  explicit KernelRunner(const LibraryKernel& kernel, Settings settings = {.dot_precision = DotPrecision::kIeee});

  // Copies the arguments of a case to the device and binds the kernel to them.
  absl::Status Bind(const Case& made);
  BoundKernel& bound() { return *bound_; }

  // Launches the kernel with this config and returns the outputs, whose memory was filled with NaN before.
  absl::StatusOr<Outputs> Launch(const codegen::Config& config);
  // Binds and launches with the default config.
  absl::StatusOr<Outputs> Run(const Case& made);

 private:
  const LibraryKernel& kernel_;
  const std::unique_ptr<Kernel> made_;
  Arguments arguments_;
  std::shared_ptr<BoundKernel> bound_;
};

}  // namespace telemetry::worker::kernels
