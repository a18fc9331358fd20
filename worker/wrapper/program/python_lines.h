#pragma once

#include <string>

#include "worker/wrapper/program/program_model.h"
#include "worker/wrapper/program/program_names.h"
#include "worker/wrapper/program/program_text.h"

namespace telemetry::worker::wrapper::program {

// Returns the names of the program, none of them a reserved word of Python or of the runtime.
ProgramNames PythonNames(const ProgramModel& model);

// Writes the functions make_inputs and run_plan: the code of each line of the plan below the text of the line.
WrittenLines WritePythonLines(const ProgramModel& model, const ProgramNames& names);

// Writes the program for a target of any dialect. CuPy runs those for CUDA; tests run those for OpenCL.
std::string WritePythonProgram(const ProgramModel& model);

}  // namespace telemetry::worker::wrapper::program
