#pragma once

#include <cstddef>
#include <string>

#include "absl/types/span.h"
#include "worker/wrapper/program/program_model.h"
#include "worker/wrapper/program/program_names.h"
#include "worker/wrapper/program/program_text.h"

namespace telemetry::worker::wrapper::program {

// Returns the names of the program, none of them a reserved word of C++ or of the runtime.
// `shape` and `before`: see ChooseNames().
ProgramNames CppNames(const ProgramModel& model, size_t shape = 0, absl::Span<const ProgramNames> before = {});

// Writes the function ProgramNames::run: the code of each line of the plan below the text of the line.
WrittenLines WriteCppLines(const ProgramModel& model, const ProgramNames& names);

// Returns a number as NumberText() does.
std::string CppNumber(double value, int digits = 0);
// Returns sizes and strides: "{{2, 3}, {3, 1}}".
std::string CppLayout(const PlanBuffer& buffer);

}  // namespace telemetry::worker::wrapper::program
