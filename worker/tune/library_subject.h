#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/device/device.h"
#include "worker/kernels/library.h"
#include "worker/runtime/kernel.h"
#include "worker/runtime/settings.h"
#include "worker/tune/recording/attempt_recorder.h"
#include "worker/tune/tuner.h"

namespace telemetry::worker::tune {

// A library kernel to tune on one device, and the attempt's description without the fields of the search.
struct LibrarySubject {
  std::unique_ptr<runtime::Kernel> kernel;  // the kernel that `bound` belongs to
  std::shared_ptr<runtime::BoundKernel> bound;
  runtime::Arguments arguments;  // of the subject's launches
  TuneSubject subject;
  recording::AttemptInfo info;  // has a new attempt_id; the attempt starts now
};

// Binds the kernel to arguments on the device. Draws two sets of inputs from `input_seed`; the final uses the second.
// Returns the errors of CheckFitsMemory, Kernel::Create, Bind and the device.
absl::StatusOr<LibrarySubject> MakeLibrarySubject(const kernels::LibraryKernel& kernel, const kernels::Problem& problem,
                                                  const runtime::Settings& settings,
                                                  const std::shared_ptr<device::Device>& device, uint64_t input_seed);

// Returns the run of such a subject without binding the kernel.
v1::Run MakeLibraryRun(const kernels::LibraryKernel& kernel, const kernels::Problem& problem,
                       const runtime::Settings& settings, const device::DeviceProperties& device);

}  // namespace telemetry::worker::tune
