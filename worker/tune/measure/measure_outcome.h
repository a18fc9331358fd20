#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace telemetry::worker::tune {

// The reason for which a config has no time, in the form that telemetry records (v1::Failure).
struct MeasureFailure {
  std::string phase;        // "load", "launch", "run", "check"
  std::string error_class;  // "IllegalAddress", "Hang", "Crash", "OutOfResources", "WrongResult", "OutOfBounds"...
  std::string code;         // "CUDA_ERROR_ILLEGAL_ADDRESS", "SIGSEGV", "DEADLINE_EXCEEDED", "mismatch"...
  std::string message;
  std::string log;  // the process's stderr output before it died; may be empty
};

// The distance of results from the expected ones, over all outputs. Each field is the worst of all outputs.
struct CheckResult {
  double worst_absolute = 0;  // infinity: a result is not finite and the expected one is, or the reverse
  double worst_relative = 0;  // over elements with an expected value other than 0
  int64_t mismatches = 0;     // elements beyond the tolerance
  std::string output;         // the first output with a mismatch; "": none
  std::vector<int64_t> first_index;
  double expected = 0;  // at first_index
  double actual = 0;
};

// Properties of the code that the compiler and the device report.
struct CodeAttributes {
  int registers = 0;
  size_t spill_bytes = 0;
  size_t shared_bytes = 0;  // static and dynamic
  size_t binary_bytes = 0;
  int blocks_per_unit = 0;  // thread blocks that fit a compute unit at once; 0: not known
  double occupancy = 0;     // threads of those blocks divided by the unit's maximum, 0..1; 0: not known
};

// The result of measuring one config.
struct MeasureOutcome {
  std::optional<MeasureFailure> failure;
  // The median of the samples that count. Set only if there is no failure and the config was not given up.
  std::optional<double> perf_ms;
  // In the order in which they were taken, without the dropped ones.
  std::vector<double> samples_ms;
  int dropped_throttled = 0;  // samples dropped because the clock was low
  // True if too few samples would be left without those taken at a low clock. The device then always runs this config
  // at a low clock, and all samples count.
  bool throttled_throughout = false;
  bool gave_up = false;     // clearly slower than give_up_above_ms; samples_ms gives the rough time
  double sm_clock_mhz = 0;  // median over the samples; 0: not known
  CodeAttributes attributes;
  std::optional<CheckResult> check;  // set if the config ran to its end

  bool ok() const { return perf_ms.has_value(); }
};

}  // namespace telemetry::worker::tune
