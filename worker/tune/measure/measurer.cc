#include "worker/tune/measure/measurer.h"

#include <utility>

#include "worker/tune/measure/problem_image.h"
#include "worker/tune/measure/process_measurer.h"

namespace telemetry::worker::tune {

absl::StatusOr<std::unique_ptr<Measurer>> Measurer::Start(const MeasureProblem& problem, MeasurerOptions options) {
  absl::StatusOr<ProblemImage> image = MakeImage(problem, options.device);
  if (!image.ok()) return image.status();
  auto measurer = std::make_unique<ProcessMeasurer>(*std::move(image), std::move(options));
  if (absl::Status status = measurer->Start(); !status.ok()) return status;
  return measurer;
}

}  // namespace telemetry::worker::tune
