#pragma once

#include <string>

#include "worker/wrapper/program/program_model.h"
#include "worker/wrapper/program/program_names.h"
#include "worker/wrapper/program/program_text.h"

namespace telemetry::worker::wrapper {

ProgramNames CppNames(const ProgramModel& model);

// The function RunPlan: each line of the plan below its text.
WrittenLines WriteCppLines(const ProgramModel& model, const ProgramNames& names);

// As NumberText.
std::string CppNumber(double value, int digits = 0);
// "{{2, 3}, {3, 1}}": sizes, strides.
std::string CppLayout(const PlanBuffer& buffer);

}  // namespace telemetry::worker::wrapper
