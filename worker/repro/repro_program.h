#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/repro/recorded_measurement.h"

namespace telemetry::worker::repro {

enum class ProgramLanguage { kCpp, kPython };

struct ReproProgram {
  std::string file_name;  // "softmax_0123456789abcdef.cpp"
  std::string text;
  std::string command;               // that makes and runs it
  std::vector<std::string> notices;  // what differs from what was measured
};

// The program of a measurement, for the device that it was measured on. Its inputs are those that were measured with.
// Errors are ReadRun's, PlanOfLaunch's and CppProgram's or PythonProgram's.
absl::StatusOr<ReproProgram> ProgramOf(const RecordedMeasurement& measured, ProgramLanguage language);

}  // namespace telemetry::worker::repro
