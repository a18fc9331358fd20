#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace telemetry::worker::tune {

// Why a config has no time. As telemetry records it (v1::Failure).
struct MeasureFailure {
  std::string phase;        // "load", "launch", "run", "check"
  std::string error_class;  // "IllegalAddress", "Hang", "Crash", "OutOfResources", "WrongResult", "OutOfBounds"...
  std::string code;         // "CUDA_ERROR_ILLEGAL_ADDRESS", "SIGSEGV", "DEADLINE_EXCEEDED", "mismatch"...
  std::string message;
  std::string log;  // what the process wrote to stderr before it died; may be empty
};

// How far results are from the expected ones. Over all outputs; of the worst one where there are several.
struct CheckResult {
  double worst_absolute = 0;  // infinity: something is not finite that should be, or the reverse
  double worst_relative = 0;  // of elements with an expected value other than 0
  int64_t mismatches = 0;     // elements beyond the tolerance
  std::string output;         // the first output with a mismatch; "" where there is none
  std::vector<int64_t> first_index;
  double expected = 0;  // there
  double actual = 0;
};

// What the compiler and the device say of the code.
struct CodeAttributes {
  int registers = 0;
  size_t spill_bytes = 0;
  size_t shared_bytes = 0;  // static and dynamic
  size_t binary_bytes = 0;
  int blocks_per_unit = 0;  // that fit a compute unit at once; 0: not known
  double occupancy = 0;     // threads of those blocks over what the unit can hold, 0..1; 0: not known
};

// What became of one config.
struct MeasureOutcome {
  std::optional<MeasureFailure> failure;
  // The median of the samples that count. Only where there is no failure and the config was not given up.
  std::optional<double> perf_ms;
  // In the order in which they were taken, but for the dropped ones.
  std::vector<double> samples_ms;
  int dropped_throttled = 0;  // taken while the clock was low
  // So many had to be dropped that the others alone would not do: low clocks are how this device runs the config, and
  // all samples count.
  bool throttled_throughout = false;
  bool gave_up = false;     // clearly slower than give_up_above_ms; the samples say how slow, roughly
  double sm_clock_mhz = 0;  // median over the samples; 0: not known
  CodeAttributes attributes;
  std::optional<CheckResult> check;  // where the config ran to its end

  bool ok() const { return perf_ms.has_value(); }
};

}  // namespace telemetry::worker::tune
