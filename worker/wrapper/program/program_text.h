#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "worker/wrapper/program/program_model.h"

namespace telemetry::worker::wrapper::program {

// Text that programs of both languages have.

// Returns a number with this many digits (9 distinguish all floats), or, for 0, with the fewest digits that distinguish
// it from other doubles. `infinity` and `nan` are the words of the language.
std::string NumberText(double value, int digits, std::string_view infinity, std::string_view nan);
// Returns the number of digits for the values of an output, and for sums of them.
int ValueDigits(device::DType dtype);
int SumDigits(device::DType dtype);

// Returns an integer of a kernel that is given as source: "150".
std::string IntegerText(const SourceNumber& number);

// Returns the items of a list, without its brackets, with `per_line` of them on a line: "1, 2, 3,\n    4, 5".
std::string WrappedList(absl::Span<const std::string> items, size_t per_line);

// Returns the text of a comment: on one line that does not continue on the next one.
std::string CommentText(std::string_view text);
// Returns the text of a line of the plan as a comment: that of Plan::LineText(), or the text of a Comment.
std::string LineComment(const Plan& plan, const Line& line);
// Returns the text as a string literal of C++ and Python.
std::string Quoted(std::string_view text);

// Returns the first lines of a program's head comment: its purpose and the origin of the plan. `actions` describes its
// actions: "it checks its results".
std::vector<std::string> HeadLines(const ProgramModel& model, std::string_view actions);

// Describes an input: "input q f32[2, 16, 32], drawn from -1 to 1".
std::string InputText(const ProgramModel& model, size_t input);

// The lines of a plan as code of a language.
struct WrittenLines {
  std::string text;
  std::set<std::string_view> runtime;  // files of runtime/ that extern calls need
};

// Returns the file of runtime/, without its extension, that debug calls need; empty if there are none.
std::string_view DebugRuntime(const ProgramModel& model);

// Returns a file of runtime/, as it was when this library was built.
std::string_view RuntimeText(std::string_view file);

}  // namespace telemetry::worker::wrapper::program
