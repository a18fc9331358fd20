#pragma once

#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "worker/runtime/bound_kernel.h"
#include "worker/tune/measure/measure_problem.h"

namespace telemetry::worker::tune {

// The subject of an attempt: a kernel bound to arguments, and the inputs it is measured with.
struct TuneSubject {
  std::shared_ptr<runtime::BoundKernel> kernel;
  runtime::Arguments arguments;
  // Returns the inputs and the expected results (measure/kernel_problem.h). Called once, from another thread, because
  // computing references is slow and the tuner compiles meanwhile.
  std::function<absl::StatusOr<measure::MeasureProblem>()> measure_problem;
};

}  // namespace telemetry::worker::tune
