#pragma once

#include <cstddef>
#include <string>

#include "absl/types/span.h"
#include "worker/wrapper/program/program_model.h"
#include "worker/wrapper/program/program_names.h"
#include "worker/wrapper/program/program_text.h"

namespace telemetry::worker::wrapper::program {

// Returns the names of the program, none of them a reserved word of Python or of the runtime.
// `shape` and `before`: see ChooseNames().
ProgramNames PythonNames(const ProgramModel& model, size_t shape = 0, absl::Span<const ProgramNames> before = {});

// Writes the function ProgramNames::run: the code of each line of the plan below the text of the line.
WrittenLines WritePythonLines(const ProgramModel& model, const ProgramNames& names);

// Writes the program for a target of any dialect. CuPy runs those for CUDA; tests run those for OpenCL.
std::string WritePythonProgram(const ProgramModel& model);
std::string WritePythonProgram(absl::Span<const PlanShape> shapes, absl::Span<const ProgramModel> models);

}  // namespace telemetry::worker::wrapper::program
