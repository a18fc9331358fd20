#pragma once

#include <functional>

#include "absl/status/statusor.h"
#include "telemetry/v1/records.pb.h"
#include "worker/ir/compare.h"
#include "worker/runtime/bound_kernel.h"
#include "worker/tune/measure/kernel_problem.h"
#include "worker/tune/tuner.h"

namespace telemetry::worker::tune {

// Makes a call of any bound kernel a tuning subject: the call's arguments are the inputs, and evaluating the kernel's
// IR gives the reference results.

// Returns the run of this call. For a library kernel it is the run that `telemetry-worker tune` records. The run
// depends on the shapes, dtypes, the kernel's source, constants and settings, and the device; not on strides and
// scalars. Returns FAILED_PRECONDITION if the kernel has no source (KernelSpec::source) or is in reference mode.
absl::StatusOr<v1::Run> MakeCallRun(const runtime::BoundKernel& kernel, const runtime::Arguments& arguments);

// Borrows the kernel, which must outlive the subject. Another thread reads the arguments; nothing writes to them.
TuneSubject MakeCallSubject(runtime::BoundKernel& kernel, const runtime::Arguments& arguments,
                            measure::ToleranceFunction tolerance);

// Returns ir::ToleranceFor(dtype); for f32 results of a kernel with TF32 dots, whose mantissas have 10 bits, returns
// the tolerance of f16.
ir::Tolerance UsualTolerance(const runtime::BoundKernel& kernel, device::DType dtype);

}  // namespace telemetry::worker::tune
