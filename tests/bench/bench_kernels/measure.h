#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "tests/bench/bench_kernels/bench_cases.h"
#include "tests/bench/bench_kernels/stopwatch.h"
#include "worker/device/device.h"

namespace telemetry::bench {

// The results of one case: one line of the report.
struct Measurement {
  std::string kernel;
  std::string arguments;
  std::string config;
  double ms = 0;
  double bytes = 0;
  double flops = 0;
  double copy_bytes_per_s = 0;  // the rate of a copy that moves the same number of bytes
  int registers = 0;
  size_t spill_bytes = 0;

  double bytes_per_s() const { return bytes / (ms / 1e3); }
  double flops_per_s() const { return flops / (ms / 1e3); }
};

// The settings of a measurement.
struct MeasureOptions {
  std::string dump_dir;  // the folder for source and binary of each kernel; empty: not written
};

// Runs the kernel once, compares the results with its reference, and then times it. Returns DATA_LOSS if the results
// are wrong, INVALID_ARGUMENT if the case's kernel, arguments or config are invalid, and otherwise the errors of the
// device.
absl::StatusOr<Measurement> Measure(const std::shared_ptr<worker::device::Device>& device, Stopwatch* stopwatch,
                                    const BenchCase& bench_case, const MeasureOptions& options);

}  // namespace telemetry::bench
