#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "tests/bench/bench_kernels/bench_cases.h"
#include "tests/bench/bench_kernels/stopwatch.h"
#include "worker/device/device.h"

namespace telemetry::bench {

// One line of the report.
struct Measurement {
  std::string kernel;
  std::string arguments;
  std::string config;
  double ms = 0;
  double bytes = 0;
  double flops = 0;
  double copy_bytes_per_s = 0;  // of copies that move as many bytes
  int registers = 0;
  size_t spill_bytes = 0;

  double bytes_per_s() const { return bytes / (ms / 1e3); }
  double flops_per_s() const { return flops / (ms / 1e3); }
};

// The settings of a measurement.
struct MeasureOptions {
  std::string dump_dir;  // where source and binary of each kernel are written; "": nowhere
};

// Runs the kernel once and compares with its reference (DATA_LOSS: results are wrong), then times it. INVALID_ARGUMENT:
// the case's kernel, arguments or config. Other errors are the device's.
absl::StatusOr<Measurement> Measure(const std::shared_ptr<worker::Device>& device, Stopwatch* stopwatch,
                                    const BenchCase& bench_case, const MeasureOptions& options);

}  // namespace telemetry::bench
