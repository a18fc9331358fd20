#include "worker/codegen/code_size.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace telemetry::worker::codegen {
namespace {

constexpr double kAlwaysUnrolled = 8;

// Removes a number without a sign from the front of `text` and returns it.
std::optional<double> TakeNumber(std::string_view* text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc()) return std::nullopt;
  text->remove_prefix(static_cast<size_t>(end - text->data()));
  return static_cast<double>(number);
}

// Returns the part of `text` between the first occurrence of `before` and the next `after`; empty: there is none.
std::string_view Between(std::string_view text, std::string_view before, std::string_view after) {
  const size_t at = text.find(before);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + before.size());
  return text.substr(0, text.find(after));
}

// Returns the number of repetitions of a loop like "for (int i = 0; i < 8; i += 2) {" or "for (int i = first; i < first
// + 8; ++i) {"; nullopt: not a constant.
std::optional<double> Repetitions(std::string_view line) {
  const std::string_view header = line.substr(0, line.find(')'));
  std::string_view begin = Between(header, " = ", ";");
  std::string_view end = Between(header, " < ", ";");
  if (!begin.empty() && end.starts_with(begin) && end.substr(begin.size()).starts_with(" + ")) {
    end.remove_prefix(begin.size() + 3);
    begin = "0";
  }
  std::string_view step = Between(header, " += ", ")");
  const std::optional<double> first = TakeNumber(&begin);
  const std::optional<double> last = TakeNumber(&end);
  if (!first || !last || !begin.empty() || !end.empty()) return std::nullopt;
  return std::max(1.0, std::ceil((*last - *first) / std::max(1.0, TakeNumber(&step).value_or(1))));
}

// Returns the number of copies that the compiler makes of a loop's body. `unrolled`: the line before the loop says so,
// and the largest number, 0: all.
double Copies(std::string_view line, std::optional<double> unrolled) {
  const std::optional<double> repetitions = Repetitions(line);
  if (!repetitions) return std::max(1.0, unrolled.value_or(1));
  if (!unrolled) return *repetitions <= kAlwaysUnrolled ? *repetitions : 1;
  return *unrolled == 0 ? *repetitions : std::min(*repetitions, *unrolled);
}

// Returns the number N in "_Pragma("unroll N")"; nullopt: another line.
std::optional<double> UnrolledCopies(std::string_view line) {
  std::string_view number = Between(line, "_Pragma(\"unroll ", "\"");
  return TakeNumber(&number);
}

// Returns the elements of an array that the line declares: "float v1[2][32];". 0: it declares none.
double DeclaredElements(std::string_view line) {
  const size_t bracket = line.find('[');
  const std::string_view declared = line.substr(0, bracket);
  if (bracket == std::string_view::npos || !line.ends_with("];") ||
      std::count(declared.begin(), declared.end(), ' ') != 1)
    return 0;
  if (declared.starts_with("return ")) return 0;
  double elements = 1;
  for (line.remove_prefix(bracket); line != ";"; line.remove_prefix(1)) {
    line.remove_prefix(1);
    const std::optional<double> extent = TakeNumber(&line);
    if (!extent || !line.starts_with(']')) return 0;
    elements *= *extent;
  }
  return elements;
}

// Removes the first line from `text` and returns it without its indentation.
std::string_view TakeLine(std::string_view* text) {
  std::string_view line = text->substr(0, text->find('\n'));
  text->remove_prefix(std::min(text->size(), line.size() + 1));
  return line.substr(std::min(line.size(), line.find_first_not_of(' ')));
}

}  // namespace

CodeSize MeasureCodeSize(std::string_view source) {
  CodeSize size;
  std::vector<double> copies = {1};  // of a line in each of the open blocks
  std::optional<double> unrolled;    // said by the line before
  while (!source.empty()) {
    const std::string_view line = TakeLine(&source);
    if (line.empty()) continue;
    if (line == "UNROLL") {
      unrolled = 0;
      continue;
    }
    if (const std::optional<double> most = UnrolledCopies(line)) {
      unrolled = most;
      continue;
    }
    const double own = copies.back() * (line.starts_with("for (") ? Copies(line, unrolled) : 1);
    unrolled.reset();
    size.characters += own * static_cast<double>(line.size());
    if (line.starts_with("wgmma_")) size.wgmmas += own;
    size.elements += DeclaredElements(line);
    if (line.front() == '}' && copies.size() > 1) copies.pop_back();
    if (line.back() == '{') copies.push_back(own);
  }
  return size;
}

}  // namespace telemetry::worker::codegen
