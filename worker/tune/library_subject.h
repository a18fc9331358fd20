#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/device/device.h"
#include "worker/kernel/kernel.h"
#include "worker/kernel/settings.h"
#include "worker/kernels/library.h"
#include "worker/tune/record/attempt_recorder.h"
#include "worker/tune/tuner.h"

namespace telemetry::worker::tune {

// A library kernel to be tuned on one device, and all that telemetry says of it but for the search.
struct LibrarySubject {
  std::unique_ptr<Kernel> kernel;  // what the subject is bound from
  TuneSubject subject;
  AttemptInfo info;  // with a new attempt_id, started now
};

// Inputs are drawn from `input_seed`: two sets, the second for the final. Errors are CheckFitsMemory's,
// Kernel::Create's, Bind's and the device's.
absl::StatusOr<LibrarySubject> SubjectOf(const kernels::LibraryKernel& kernel, const kernels::Problem& problem,
                                         const Settings& settings, const std::shared_ptr<Device>& device,
                                         uint64_t input_seed);

// The run that such a subject is measured as, without binding it.
v1::Run RunOf(const kernels::LibraryKernel& kernel, const kernels::Problem& problem, const Settings& settings,
              const DeviceProperties& device);

}  // namespace telemetry::worker::tune
