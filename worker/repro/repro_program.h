#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/repro/recorded_measurement.h"
#include "worker/wrapper/program/program.h"

namespace telemetry::worker::repro {

// The language of a generated program.
enum class ProgramLanguage { kCpp, kPython };

// A file that a program reads.
struct DataFile {
  std::string path;
  std::string bytes;
};

// A standalone program that repeats a measurement.
struct ReproProgram {
  std::string path;  // the file to write `text` to
  std::string text;
  std::string command;               // a shell command that compiles (C++) and runs the file at `path`
  std::vector<DataFile> files = {};  // next to the program; empty: it needs none
  std::vector<std::string> notices;  // differences from the measured run
};

// Returns the shell command that compiles the C++ program of a plan at a path and runs it.
std::string CppCommand(const wrapper::Plan& plan, const wrapper::program::ProgramOptions& options,
                       const std::string& path);

// Returns the program of a measurement, for the device that it was measured on and with the same inputs. `path` is the
// future path of the program; empty: a file in the current folder, such as "softmax_0123456789abcdef.cpp". Returns the
// errors of ReadRun, PlanOfLaunch, and CppProgram or PythonProgram.
absl::StatusOr<ReproProgram> MakeReproProgram(const RecordedMeasurement& measured, ProgramLanguage language,
                                              const std::string& path = "");

}  // namespace telemetry::worker::repro
