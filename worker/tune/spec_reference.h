#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "worker/tune/compile/compile_pool.h"
#include "worker/tune/measure/measure_problem.h"
#include "worker/tune/process/step_report.h"
#include "worker/tune/spec_kernel.h"

namespace telemetry::worker::tune {

// Returns RESOURCE_EXHAUSTED if the vectors do not fit into the memory of the kernel's device, or if preparing them
// needs more memory than this machine has available; the message has both sizes and names the largest vector.
absl::Status CheckMemory(const SpecKernel& kernel);

// Returns the problem of a specification's kernel: its vectors with their initial values and expected results, which
// come from a reference config or kernel (MeasureProblem::reference), from files, or from nowhere: then no result is
// wrong, but kernels must still not write elsewhere. Reports the steps "inputs" and "reference compile".
// INVALID_ARGUMENT, NOT_FOUND: values of a file, see spec::BytesOf. FAILED_PRECONDITION: the reference does not
// compile; the message has its error.
absl::StatusOr<measure::MeasureProblem> MakeSpecProblem(const SpecKernel& kernel, const process::StepReport& on_step,
                                                        compile::CompilePool* compilers);

}  // namespace telemetry::worker::tune
