#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "telemetry/v1/records.pb.h"
#include "worker/device/device.h"
#include "worker/spec/specification.h"
#include "worker/tune/recording/attempt_recorder.h"
#include "worker/tune/spec_kernel.h"
#include "worker/tune/tuner.h"

namespace telemetry::worker::tune {

// The kernel of a specification to tune on one device, and the attempt's description without the fields of the search.
struct SpecSubject {
  TuneSubject subject;
  recording::AttemptInfo info;  // has a new attempt_id; the attempt starts now
};

// `on_step` may be empty; see MakeSpecProblem. Returns the errors of SpecKernel::Create and CheckMemory; the subject's
// problem has those of MakeSpecProblem.
absl::StatusOr<SpecSubject> MakeSpecSubject(std::shared_ptr<const spec::Specification> spec,
                                            const std::shared_ptr<device::Device>& device, process::StepReport on_step);

// Returns the run of a specification's kernel on a device.
//
// Its kernel_source, and so its run_id, is the source as it is compiled (worker/spec/source_text.h), without
// parameters, followed by comments with what else the time depends on: the launch, the problem size, the values of
// scalars and how vectors are filled. Comments and layout of the kernel's files do not matter, nor do the names of
// files, the values of parameters (another list is another search of the same run), constraints, seeds, and the
// verification.
v1::Run MakeSpecRun(const SpecKernel& kernel, const device::DeviceProperties& device);

}  // namespace telemetry::worker::tune
