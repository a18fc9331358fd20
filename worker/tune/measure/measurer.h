#pragma once

#include <cstddef>
#include <future>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/tune/measure/final_outcome.h"
#include "worker/tune/measure/measure.pb.h"
#include "worker/tune/measure/measure_problem.h"
#include "worker/tune/measure/measure_request.h"
#include "worker/tune/measure/measuring_process.h"
#include "worker/tune/measure/problem_image.h"

namespace telemetry::worker::tune::measure {

// Measures configs of one problem on one device in a separate process. An error of a config (an illegal access, an
// endless loop, a crash) ends that process and is reported as that config's failure. A second process, which is on
// standby with the problem in the device's memory, then measures the next config. Results are checked before anything
// is timed: a config with wrong results has no time.
//
// Only one thread may use it at a time. The processes end with this object, and when this process dies.
class Measurer {
 public:
  // Starts the processes, with the first baseline that runs and agrees with the samples if the problem has baselines,
  // or with the results of the reference. `opening` may be a process of the same options that was started before and is
  // opening the device. FAILED_PRECONDITION: there is no such baseline, or the reference fails; the message has the
  // errors. INVALID_ARGUMENT: the problem is not
  // consistent (the message names the buffer). NOT_FOUND: the device does not exist. RESOURCE_EXHAUSTED: the problem
  // does not fit the device's memory. UNAVAILABLE: the process cannot be started; the message contains the reason.
  // Other errors are the device's.
  static absl::StatusOr<std::unique_ptr<Measurer>> Start(const MeasureProblem& problem, MeasurerOptions options,
                                                         std::unique_ptr<MeasuringProcess> opening = nullptr);

  // Measures a config. A failure of the config is part of the outcome. INVALID_ARGUMENT: a buffer that is not part of
  // the problem. UNAVAILABLE: no process could be started in place of one that ended; a later call tries again.
  //
  // `next`, if it is not null, is the request that will probably come next: its code is loaded while the device runs
  // this config, before anything is timed. If that ends the process, this config is measured again without it, and the
  // failure shows when `next` is measured.
  absl::StatusOr<wire::Outcome> Measure(const MeasureRequest& request, const MeasureRequest* next = nullptr);

  // Checks the configs on the problem's last data set, for which it waits, then takes samples in turns, A B C A B C...,
  // so that drift (clocks, temperature, other programs) affects all configs equally. Each config gets one sample per
  // round, and more rounds are taken if throttling requires it. Returns the errors of Measure() and those of
  // MeasureProblem::last.
  absl::StatusOr<FinalOutcome> MeasureInterleaved(absl::Span<const MeasureRequest> requests, const FinalEffort& effort);

 private:
  Measurer(ProblemImage image, std::shared_future<absl::StatusOr<DataSet>> last, MeasurerOptions options,
           std::unique_ptr<MeasuringProcess> opening)
      : image_(std::move(image)), last_(std::move(last)), options_(std::move(options)), opening_(std::move(opening)) {}

  absl::Status ChooseBaseline(const std::vector<MeasureRequest>& baselines);
  // Runs the reference in the active process and puts its results into the image and into that process.
  absl::Status RunReference(const MeasureRequest& reference);
  // Waits for the last data set, before its first use.
  absl::Status AwaitLast();
  absl::Status CheckRequest(const MeasureRequest& request) const;
  // Returns a process that is ready, and starts the next standby process.
  absl::StatusOr<MeasuringProcess*> Ready();
  absl::Status Activate();
  absl::Status StandBy();
  void Retire();
  // Reads a buffer's contents from the active process and makes them its expected results.
  absl::Status ReadExpected(int index, const PhaseLimits& limits);
  absl::StatusOr<wire::Outcome> MeasureOn(const MeasureRequest& request, bool last_data_set,
                                          const MeasureRequest* next = nullptr);
  // Returns nullopt if the process ended during the measurement; the config that caused it is not known.
  absl::StatusOr<std::optional<std::vector<wire::Outcome>>> TakeTurns(absl::Span<const MeasureRequest> requests,
                                                                      const FinalEffort& effort);

  ProblemImage image_;                                // after Start, only the last data set is added
  std::shared_future<absl::StatusOr<DataSet>> last_;  // invalid: the image has it, too
  const MeasurerOptions options_;
  std::unique_ptr<MeasuringProcess> opening_;  // without a problem yet; null after the first StandBy
  std::unique_ptr<MeasuringProcess> active_;
  std::unique_ptr<MeasuringProcess> standby_;
  bool was_ready_ = false;
  std::vector<std::unique_ptr<MeasuringProcess>> retired_;  // ending; a GPU's driver needs time for that
};

}  // namespace telemetry::worker::tune::measure
