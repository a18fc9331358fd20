#include <array>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "proto/record/strings.h"
#include "worker/compare/report.h"

namespace telemetry::worker::compare {
namespace {

using record::Cat;
using Line = std::array<std::string, 5>;

// Returns the number of characters of a UTF-8 text.
size_t WidthOf(const std::string& text) {
  size_t width = 0;
  for (const char byte : text) width += (static_cast<unsigned char>(byte) & 0xC0) != 0x80 ? 1 : 0;
  return width;
}

std::string Align(const std::vector<Line>& lines) {
  std::array<size_t, std::tuple_size_v<Line>> widths = {};
  for (const Line& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], WidthOf(line[i]));
  }
  std::string text;
  for (const Line& line : lines) {
    text += " ";
    for (size_t i = 0; i < line.size(); ++i) {
      text += " " + line[i];
      if (i + 1 < line.size()) text.append(widths[i] - WidthOf(line[i]) + 1, ' ');
    }
    text += "\n";
  }
  return text;
}

std::string AttemptsOf(const RunComparison& run) {
  return absl::StrFormat("%d and %d attempts", run.base_attempts, run.head_attempts);
}

}  // namespace

std::string ToText(const Report& report) {
  std::string text = Cat("base: ", report.base, "\nhead: ", report.head, "\n");
  for (const RunComparison& run : report.runs) {
    text += Cat("\n", NameOf(run.key), " (", AttemptsOf(run), "): ", NameOf(run.verdict), "\n");
    std::vector<Line> lines;
    for (const TimeComparison& time : run.times) {
      lines.push_back({std::string(NameOf(time.kind)), Format(time.base), Format(time.head), Format(time.change),
                       FormatVerdict(run, time)});
    }
    text += Align(lines);
    for (const std::string& remark : run.remarks) text += Cat("  note: ", remark, "\n");
  }
  text += "\n";
  for (const std::string& remark : report.remarks) text += Cat("note: ", remark, "\n");
  return Cat(text, Summary(report), "\n");
}

}  // namespace telemetry::worker::compare
