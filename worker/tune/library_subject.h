#pragma once

#include <future>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/device/device.h"
#include "worker/kernels/library.h"
#include "worker/kernels/problem.h"
#include "worker/runtime/kernel.h"
#include "worker/runtime/settings.h"
#include "worker/tune/process/step_report.h"
#include "worker/tune/recording/attempt_recorder.h"
#include "worker/tune/tuner.h"

namespace telemetry::worker::tune {

// A library kernel that is bound to arguments on one device.
struct BoundLibraryKernel {
  std::unique_ptr<runtime::Kernel> kernel;  // the kernel that `bound` belongs to
  std::shared_ptr<runtime::BoundKernel> bound;
  runtime::Arguments arguments;  // of the launches, without memory (DescribeOnDevice)
};

// Binds the kernel to the arguments of the problem without using the device itself. Returns the errors of
// Kernel::Create and Bind.
absl::StatusOr<BoundLibraryKernel> BindLibraryKernel(const kernels::LibraryKernel& kernel,
                                                     const kernels::Problem& problem, const runtime::Settings& settings,
                                                     const std::shared_ptr<device::Device>& device);

// A library kernel to tune on one device, and the attempt's description without the fields of the search.
struct LibrarySubject : BoundLibraryKernel {
  TuneSubject subject;
  recording::AttemptInfo info;  // has a new attempt_id; the attempt starts now
};

// The values of a library kernel's two sets of inputs, which other threads draw: the final uses the second set.
struct DrawnInputs {
  // Begins to draw them from `seed` and `seed` + 1. `kernel` must outlive the result. Returns the errors of
  // CheckFitsMemory.
  static absl::StatusOr<DrawnInputs> Begin(const kernels::LibraryKernel& kernel, const kernels::Problem& problem,
                                           uint64_t seed);

  std::future<kernels::Case> first;
  std::future<kernels::Case> second;
};

// Binds the kernel; the measuring process has the inputs in its memory. Uses the inputs that were drawn from
// `input_seed`, or draws them: the subject's problem waits for them. `on_step` may be empty. Returns the errors of
// CheckFitsMemory, BindLibraryKernel and the device.
absl::StatusOr<LibrarySubject> MakeLibrarySubject(const kernels::LibraryKernel& kernel, const kernels::Problem& problem,
                                                  const runtime::Settings& settings,
                                                  const std::shared_ptr<device::Device>& device, uint64_t input_seed,
                                                  DrawnInputs drawn = {}, process::StepReport on_step = {});

// Returns the run of such a subject without binding the kernel.
v1::Run MakeLibraryRun(const kernels::LibraryKernel& kernel, const kernels::Problem& problem,
                       const runtime::Settings& settings, const device::DeviceProperties& device);

}  // namespace telemetry::worker::tune
