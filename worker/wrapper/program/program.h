#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/codegen/generate.h"
#include "worker/wrapper/lines.h"

namespace telemetry::worker::wrapper {

// A plan as a program of its own, for who has a GPU and a compiler but nothing of this project: it makes its inputs
// from a seed, runs the plan's lines, compares what comes out with what the kernels' references gave when it was
// written, and times the launches behind a flush of the device's cache, as the tuner does. It exits with 0 when the
// results are right, 1 when they are wrong, 2 when it could not run.
struct ProgramOptions {
  codegen::Target target = {};             // the device; its dialect is the program's
  codegen::GenerateOptions generate = {};  // of a run's settings
  uint64_t seed = 1;                       // of inputs, as MakeCase takes it
  std::string name = {};                   // of the file, without its ending; empty: the plan's (FileName)
  std::vector<std::string> comments = {};  // for its head: where the plan comes from
  std::optional<double> measured_ms = {};  // a time of its launches, to compare with
};

// One file for CUDA or OpenCL. UNIMPLEMENTED: an extern kernel that the program could not compute; names it and says
// which can be. INVALID_ARGUMENT: VerifyPlan's, or a view begins where no buffer can (kViewAlignment), or a config is
// not in its kernel's space. Other errors are codegen::Generate's.
absl::StatusOr<std::string> CppProgram(const Plan& plan, const ProgramOptions& options);

// One command that makes the program NAME of that file, where NAME.cpp is. The plan has to be verified.
std::string CompileCommand(const Plan& plan, const ProgramOptions& options);
// The same for other paths; both as the shell is to read them.
std::string CompileCommand(const Plan& plan, const ProgramOptions& options, std::string_view source,
                           std::string_view program);

// One file for Python 3 with CuPy and NumPy. INVALID_ARGUMENT also: the target is not CUDA, which CuPy wants.
absl::StatusOr<std::string> PythonProgram(const Plan& plan, const ProgramOptions& options);

// NAME of NAME.cpp and NAME.py: of letters, digits, '.', '-' and '_', with '_' for all others.
std::string FileName(const Plan& plan, const ProgramOptions& options);

}  // namespace telemetry::worker::wrapper
