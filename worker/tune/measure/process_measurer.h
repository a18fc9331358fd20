#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "worker/tune/measure/measurer.h"
#include "worker/tune/measure/measuring_process.h"
#include "worker/tune/measure/problem_image.h"

namespace telemetry::worker::tune {

// The implementation of Measurer: one process measures, and a second one is on standby.
class ProcessMeasurer final : public Measurer {
 public:
  ProcessMeasurer(ProblemImage image, MeasurerOptions options)
      : image_(std::move(image)), options_(std::move(options)) {}

  // Starts both processes and waits until the first is ready.
  absl::Status Start();

  absl::StatusOr<MeasureOutcome> Measure(const MeasureRequest& request) override;
  absl::StatusOr<FinalOutcome> MeasureInterleaved(absl::Span<const MeasureRequest> requests,
                                                  const FinalEffort& effort) override;

 private:
  absl::Status CheckRequest(const MeasureRequest& request) const;
  // Returns a process that is ready, and starts the next standby process.
  absl::StatusOr<MeasuringProcess*> Ready();
  absl::Status Activate();
  absl::Status StandBy();
  void Retire();
  absl::StatusOr<MeasureOutcome> MeasureOn(const MeasureRequest& request, bool last_data_set);
  // Returns nullopt if the process ended during the measurement; the config that caused it is not known.
  absl::StatusOr<std::optional<std::vector<MeasureOutcome>>> TakeTurns(absl::Span<const MeasureRequest> requests,
                                                                       const FinalEffort& effort);

  const ProblemImage image_;
  const MeasurerOptions options_;
  std::unique_ptr<MeasuringProcess> active_;
  std::unique_ptr<MeasuringProcess> standby_;
  bool was_ready_ = false;
  std::vector<std::unique_ptr<MeasuringProcess>> retired_;  // ending; a GPU's driver needs time for that
};

}  // namespace telemetry::worker::tune
