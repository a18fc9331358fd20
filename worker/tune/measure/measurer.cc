#include "worker/tune/measure/measurer.h"

#include <utility>

#include "proto/base/status_macros.h"
#include "worker/tune/measure/problem_image.h"
#include "worker/tune/measure/process_measurer.h"

namespace telemetry::worker::tune {

absl::StatusOr<std::unique_ptr<Measurer>> Measurer::Start(const MeasureProblem& problem, MeasurerOptions options) {
  ASSIGN_OR_RETURN(ProblemImage image, MakeImage(problem, options.device));
  auto measurer = std::make_unique<ProcessMeasurer>(std::move(image), std::move(options));
  RETURN_IF_ERROR(measurer->Start());
  return measurer;
}

}  // namespace telemetry::worker::tune
