#pragma once

#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "worker/tune/compile/compile_pool.h"
#include "worker/tune/measure/measure_problem.h"
#include "worker/tune/tunable_kernel.h"

namespace telemetry::worker::tune {

// The subject of an attempt: a kernel with its arguments, and the inputs it is measured with.
struct TuneSubject {
  std::shared_ptr<const TunableKernel> kernel;
  // Returns the inputs and the expected results (measure/kernel_problem.h), or code that computes them, which
  // `compilers` compiles. Called once for each attempt, from another thread, because computing references is slow and
  // the tuner compiles meanwhile.
  std::function<absl::StatusOr<measure::MeasureProblem>(compile::CompilePool* compilers)> measure_problem;
};

}  // namespace telemetry::worker::tune
