#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/runtime/bound_kernel.h"
#include "worker/tune/compile/compile_pool.h"
#include "worker/tune/measure/kernel_problem.h"
#include "worker/tune/measure/measure_problem.h"
#include "worker/tune/process/step_report.h"

namespace telemetry::worker::tune {

// Returns the work on the host (ir::reference::WorkOfPoint, for all points) above which calls get a baseline.
// Evaluating 2e8 takes about a second on one thread. The sample of a baseline is evaluated on all threads, so that it
// is sooner there for less work if there are many.
double MostHostWork();

// The options of MakeBaselineProblem.
struct BaselineOptions {
  double most_host_work = MostHostWork();
  // Selects the sample's points.
  uint64_t seed = 0;
  process::StepReport on_step;
  // Optional: returns the arguments of the last call, after `calls`. Called on another thread, on which the kernel must
  // still exist, since only the final needs that call.
  std::function<runtime::Arguments()> last;
};

// Returns the problem of calls that are too large to be evaluated on the host; nullopt if they are small, or if the
// kernel loads from a tensor that it stores to, so that no part of it can be evaluated alone. The expected results are
// those of a baseline: the default config as plain code, without tensor cores and approximate functions, or, if that
// fails, as normal code. A sample of its results is compared with the reference, for about a second on all cores: one
// point in each tile of the baseline's if that is enough time, else in each row and each column of tiles.
//
// The calls are as in MakeProblem. Returns the errors of MakeProblem, of ir::reference::EvaluateAt, and of the compiler
// if it compiles no baseline. Takes the values of tensors on the host to which nothing else refers.
absl::StatusOr<std::optional<measure::MeasureProblem>> MakeBaselineProblem(const runtime::BoundKernel& kernel,
                                                                           std::vector<runtime::Arguments> calls,
                                                                           const measure::ToleranceFunction& tolerance,
                                                                           const BaselineOptions& options,
                                                                           compile::CompilePool* compilers);

}  // namespace telemetry::worker::tune
