#pragma once

#include <string>

#include "worker/wrapper/program/program_model.h"
#include "worker/wrapper/program/program_names.h"
#include "worker/wrapper/program/program_text.h"

namespace telemetry::worker::wrapper {

ProgramNames PythonNames(const ProgramModel& model);

// The functions make_inputs and run_plan: each line of the plan below its text.
WrittenLines WritePythonLines(const ProgramModel& model, const ProgramNames& names);

// As NumberText.
std::string PythonNumber(double value, int digits = 0);

}  // namespace telemetry::worker::wrapper
