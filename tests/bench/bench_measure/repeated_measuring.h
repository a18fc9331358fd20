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

// Repeated measurements of one config.
class RepeatedMeasuring {
 public:
  // Binds and compiles the kernel, computes the reference and starts the processes. Returns the errors of these steps.
  static absl::StatusOr<RepeatedMeasuring> Start(const std::shared_ptr<worker::device::Device>& device,
                                                 const BenchCase& bench_case);

  struct Repetition {
    double wall_ms = 0;
    worker::tune::measure::wire::Outcome outcome;
  };

  // Measures the config `times` times. Returns the errors of the Measurer.
  absl::StatusOr<std::vector<Repetition>> Repeat(int times);
  // Runs a final of the config against itself.
  absl::StatusOr<worker::tune::measure::FinalOutcome> FinalAgainstItself(int rounds);
  // Measures a config with an illegal memory access, and then this config.
  absl::StatusOr<std::vector<Repetition>> AfterAnIllegalAccess();

 private:
  RepeatedMeasuring(std::shared_ptr<worker::device::Device> device, worker::tune::measure::MeasureRequest request,
                    std::unique_ptr<worker::tune::measure::Measurer> measurer)
      : device_(std::move(device)), request_(std::move(request)), measurer_(std::move(measurer)) {}

  absl::StatusOr<Repetition> Measure(const worker::tune::measure::MeasureRequest& request);

  std::shared_ptr<worker::device::Device> device_;
  worker::tune::measure::MeasureRequest request_;
  std::unique_ptr<worker::tune::measure::Measurer> measurer_;
};

}  // namespace telemetry::bench
