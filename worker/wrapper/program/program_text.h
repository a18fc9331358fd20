#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "worker/wrapper/program/program_model.h"

namespace telemetry::worker::wrapper {

// Words that programs are written with, in either language.

// With so many digits (9 tell all floats apart), or with 0 as few as tell it from other doubles; `infinity` and `nan`
// are the language's.
std::string NumberText(double value, int digits, std::string_view infinity, std::string_view nan);
// Digits of an output's values, and of sums of them.
int DigitsOf(DType dtype);
int SumDigitsOf(DType dtype);

// A list in brackets that are not part of it, so many to a line: "1, 2, 3,\n    4, 5".
std::string WrappedList(absl::Span<const std::string> items, size_t per_line);

// What follows a mark of comments: on one line, and none that goes on.
std::string CommentText(std::string_view text);
// Of C++ and Python.
std::string Quoted(std::string_view text);

// The lines that a program's head comments begin with: what it is, and where it comes from.
std::vector<std::string> HeadLines(const ProgramModel& model);

// "input q f32[2, 16, 32], drawn from -1 to 1"
std::string InputText(const ProgramModel& model, size_t input);

// What a language's visitor makes of a plan's lines.
struct WrittenLines {
  std::string text;
  std::set<std::string_view> runtime;  // files of runtime/ that extern calls need
};

// A file of runtime/, as it was when this was built.
std::string_view RuntimeText(std::string_view file);

}  // namespace telemetry::worker::wrapper
