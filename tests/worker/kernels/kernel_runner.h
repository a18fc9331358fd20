#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/codegen/config.h"
#include "worker/device/device.h"
#include "worker/kernels/library.h"
#include "worker/runtime/kernel.h"
#include "worker/runtime/settings.h"

namespace telemetry::worker::kernels {

// Returns the device that TELEMETRY_TEST_DEVICE names, by default "opencl:0". Opens it once; aborts if it cannot be
// opened.
std::shared_ptr<device::Device> TestDevice();

// Reports whether TELEMETRY_ALL_CONFIGS requests all configs instead of a sample that needs about a minute.
bool AllConfigs();

// A library kernel on the test device.
class KernelRunner {
 public:
  // By default, f32 dots have full f32 precision (no tf32).
  explicit KernelRunner(const LibraryKernel& kernel,
                        runtime::Settings settings = {.dot_precision = runtime::DotPrecision::kIeee});

  // Copies the arguments of a case to the device and binds the kernel to them.
  absl::Status Bind(const Case& made);
  runtime::BoundKernel& bound() { return *bound_; }

  // Launches the kernel with this config and returns the outputs, whose memory was filled with NaN before.
  absl::StatusOr<Outputs> Launch(const codegen::Config& config);
  // Binds and launches with the default config.
  absl::StatusOr<Outputs> Run(const Case& made);

 private:
  const LibraryKernel& kernel_;
  const std::unique_ptr<runtime::Kernel> made_;
  runtime::Arguments arguments_;
  std::shared_ptr<runtime::BoundKernel> bound_;
};

}  // namespace telemetry::worker::kernels
