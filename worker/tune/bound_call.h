#pragma once

#include <functional>

#include "absl/status/statusor.h"
#include "telemetry/v1/records.pb.h"
#include "worker/ir/compare.h"
#include "worker/kernel/bound_kernel.h"
#include "worker/tune/measure/kernel_problem.h"
#include "worker/tune/tuner.h"

namespace telemetry::worker::tune {

// A call of any bound kernel as what is tuned: its own arguments are the inputs, and its IR is the reference.

// The run that such a call is measured as; of library kernels the one that `telemetry-worker tune` gives. Shapes,
// dtypes, the kernel's source, its constants, settings and device decide; strides and scalars do not.
// FAILED_PRECONDITION: the kernel has no source (KernelSpec::source), or is in reference mode.
absl::StatusOr<v1::Run> RunOfCall(const BoundKernel& kernel, const Arguments& arguments);

// Borrows the kernel, which must outlive the subject. The arguments are read, from another thread, and not written.
TuneSubject SubjectOfCall(BoundKernel& kernel, const Arguments& arguments, ToleranceOf tolerance);

// ir::ToleranceFor, and that of f16 where dots of f32 have 10 bits of mantissa.
ir::Tolerance UsualTolerance(const BoundKernel& kernel, DType dtype);

}  // namespace telemetry::worker::tune
