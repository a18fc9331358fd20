#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/repro/recorded_measurement.h"

namespace telemetry::worker::repro {

enum class ProgramLanguage { kCpp, kPython };

struct ReproProgram {
  std::string path;  // where it is to be written
  std::string text;
  std::string command;               // that makes and runs it there, for a shell
  std::vector<std::string> notices;  // what differs from what was measured
};

// The program of a measurement, for the device that it was measured on. Its inputs are those that were measured with.
// `path` is where the program will be; empty: the current folder, as "softmax_0123456789abcdef.cpp". Errors are
// ReadRun's, PlanOfLaunch's and CppProgram's or PythonProgram's.
absl::StatusOr<ReproProgram> ProgramOf(const RecordedMeasurement& measured, ProgramLanguage language,
                                       const std::string& path = "");

}  // namespace telemetry::worker::repro
