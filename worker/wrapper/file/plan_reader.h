#pragma once

#include "absl/status/statusor.h"
#include "worker/spec/json_member.h"
#include "worker/wrapper/file/plan_symbols.h"
#include "worker/wrapper/file/spec_kernel.h"
#include "worker/wrapper/lines.h"

namespace telemetry::worker::wrapper::file {

// Builds the plan that the JSON value of a plan file describes, for the values of its symbols. INVALID_ARGUMENT names
// the place: see SymbolicPlan::At(). If `kernels` is null, a plan that calls the kernel of a specification is refused.
absl::StatusOr<Plan> ReadPlanLines(const spec::JsonMember& file, PlanSymbols symbols, SpecKernels* kernels);

}  // namespace telemetry::worker::wrapper::file
