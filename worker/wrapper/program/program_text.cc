#include "worker/wrapper/program/program_text.h"

#include <charconv>
#include <cmath>
#include <iterator>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "proto/record/strings.h"

namespace telemetry::worker::wrapper::program {

using device::DType;
using record::Cat;

std::string NumberText(double value, int digits, std::string_view infinity, std::string_view nan) {
  if (std::isnan(value)) return Cat(nan);
  if (std::isinf(value)) return Cat(value < 0 ? "-" : "", infinity);
  char text[40];
  const std::to_chars_result end = digits == 0
                                       ? std::to_chars(text, std::end(text), value)
                                       : std::to_chars(text, std::end(text), value, std::chars_format::general, digits);
  return {text, end.ptr};
}

int ValueDigits(DType dtype) { return IsFloat(dtype) ? 9 : 0; }

int SumDigits(DType dtype) { return IsFloat(dtype) ? 12 : 0; }

std::string IntegerText(const SourceNumber& number) {
  const int64_t value = std::get<int64_t>(number.value);
  return number.type == "u64" ? Cat(static_cast<uint64_t>(value)) : Cat(value);
}

std::string WrappedList(absl::Span<const std::string> items, size_t per_line) {
  std::string text;
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) text += i % per_line == 0 ? ",\n    " : ", ";
    text += items[i];
  }
  return text;
}

std::string CommentText(std::string_view text) {
  std::string line(text);
  for (char& c : line) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  while (!line.empty() && line.back() == '\\') line.pop_back();
  return line;
}

std::string LineComment(const Plan& plan, const Line& line) {
  const auto* comment = std::get_if<Comment>(&line);
  return comment == nullptr ? plan.LineText(line) : comment->text;
}

std::string Quoted(std::string_view text) { return Cat("\"", absl::CEscape(record::AbslView(text)), "\""); }

std::vector<std::string> HeadLines(const ProgramModel& model, std::string_view actions) {
  std::vector<std::string> lines = {Cat("The plan '", model.plan->name, "' as a program of its own: ", actions, ".")};
  for (const std::string& comment : model.options.comments) {
    for (const absl::string_view line : absl::StrSplit(comment, '\n'))
      lines.push_back(CommentText({line.data(), line.size()}));
  }
  return lines;
}

std::string InputText(const ProgramModel& model, size_t input) {
  const kernels::DrawRange& range = model.ranges[input];
  const PlanBuffer& buffer = model.plan->buffer(model.plan->inputs[input]);
  return Cat("input ", buffer.name, " ", buffer.LayoutText(), ", drawn from ", range.low, " to ", range.high);
}

std::string_view DebugRuntime(const ProgramModel& model) {
  const debug::DebugOptions& options = model.options.debug;
  if (!options.is_on()) return "";
  return options.level == debug::DebugLevel::kNames ? "debug_names" : "debug_values";
}

}  // namespace telemetry::worker::wrapper::program
