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

// The device that TELEMETRY_TEST_DEVICE names, "opencl:0" without it. Opened once. Ends the program where there is
// none.
std::shared_ptr<Device> TestDevice();

// Whether TELEMETRY_ALL_CONFIGS asks for everything rather than a sample that takes about a minute.
bool AllConfigs();

// A library kernel on the test's device.
class KernelRunner {
 public:
  // Dots of f32 are exact unless `settings` says otherwise.
  explicit KernelRunner(const LibraryKernel& kernel, Settings settings = {.dot_precision = DotPrecision::kIeee});

  // The case's arguments on the device, bound.
  absl::Status Bind(const Case& made);
  BoundKernel& bound() { return *bound_; }

  // What a launch with that config wrote into memory that held NaN before.
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
