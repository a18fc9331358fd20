#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tests/bench/bench_kernels/bench_cases.h"
#include "worker/device/device.h"
#include "worker/tune/measure/measurer.h"

namespace telemetry::bench {

// One config that is measured again and again.
class RepeatedMeasuring {
 public:
  // Binds, compiles, computes the reference, starts the processes. Errors are those of whoever does it.
  static absl::StatusOr<RepeatedMeasuring> Start(const std::shared_ptr<worker::Device>& device,
                                                 const BenchCase& bench_case);

  struct Repetition {
    double wall_ms = 0;
    worker::tune::MeasureOutcome outcome;
  };

  // Errors are the Measurer's.
  absl::StatusOr<std::vector<Repetition>> Repeat(int times);
  // The config against itself.
  absl::StatusOr<worker::tune::FinalOutcome> FinalAgainstItself(int rounds);
  // A config that accesses memory it has not, and this one after it.
  absl::StatusOr<std::vector<Repetition>> AfterAnIllegalAccess();

 private:
  RepeatedMeasuring(std::shared_ptr<worker::Device> device, worker::tune::MeasureRequest request,
                    std::unique_ptr<worker::tune::Measurer> measurer)
      : device_(std::move(device)), request_(std::move(request)), measurer_(std::move(measurer)) {}

  absl::StatusOr<Repetition> Measure(const worker::tune::MeasureRequest& request);

  std::shared_ptr<worker::Device> device_;
  worker::tune::MeasureRequest request_;
  std::unique_ptr<worker::tune::Measurer> measurer_;
};

}  // namespace telemetry::bench
