#include "worker/codegen/code_size.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <vector>

namespace telemetry::worker::codegen {
namespace {

constexpr double kAlwaysUnrolled = 8;

// Returns the number behind the first occurrence of `before`.
std::optional<double> NumberAfter(std::string_view line, std::string_view before) {
  const size_t at = line.find(before);
  if (at == std::string_view::npos) return std::nullopt;
  int64_t number = 0;
  const auto error = std::from_chars(line.data() + at + before.size(), line.data() + line.size(), number).ec;
  return error == std::errc() ? std::optional<double>(static_cast<double>(number)) : std::nullopt;
}

// Returns the number of repetitions of a loop like "for (int i = 0; i < 8; i += 2) {"; nullopt: not a constant.
std::optional<double> Repetitions(std::string_view line) {
  const std::optional<double> begin = NumberAfter(line, " = ");
  const std::optional<double> end = NumberAfter(line, " < ");
  if (!begin || !end) return std::nullopt;
  return std::max(1.0, (*end - *begin) / std::max(1.0, NumberAfter(line, " += ").value_or(1)));
}

// Returns the number of copies that the compiler makes of a loop's body. `unrolled`: the line before the loop says so,
// and the largest number, 0: all.
double Copies(std::string_view line, std::optional<double> unrolled) {
  const std::optional<double> repetitions = Repetitions(line);
  if (!repetitions) return std::max(1.0, unrolled.value_or(1));
  if (!unrolled) return *repetitions <= kAlwaysUnrolled ? *repetitions : 1;
  return *unrolled == 0 ? *repetitions : std::min(*repetitions, *unrolled);
}

// Returns the elements of an array that the line declares: "float v1[32];". 0: it declares none.
double DeclaredElements(std::string_view line) {
  if (!line.ends_with("];") || line.find('=') != std::string_view::npos) return 0;
  const std::string_view declared = line.substr(0, line.find('['));
  return std::count(declared.begin(), declared.end(), ' ') == 1 ? NumberAfter(line, "[").value_or(0) : 0;
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
    if (const std::optional<double> most = NumberAfter(line, "_Pragma(\"unroll ")) {
      unrolled = most;
      continue;
    }
    const double own = copies.back() * (line.starts_with("for (") ? Copies(line, unrolled) : 1);
    unrolled.reset();
    size.characters += own * static_cast<double>(line.size());
    if (line.find("wgmma_") != std::string_view::npos) size.wgmmas += own;
    size.elements += DeclaredElements(line);
    if (line.front() == '}' && copies.size() > 1) copies.pop_back();
    if (line.back() == '{') copies.push_back(own);
  }
  return size;
}

}  // namespace telemetry::worker::codegen
