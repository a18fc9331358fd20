#include "worker/spec/declared_block.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_split.h"
#include "proto/record/strings.h"
#include "worker/spec/source_text.h"

namespace telemetry::worker::spec {
namespace {

using record::Cat;

constexpr int kMostExpansions = 64;
constexpr size_t kLongestExpansion = 4096;  // bytes

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.remove_suffix(1);
  return text;
}

// Returns the place of the next whole word from `from`; npos: there is none.
size_t FindWord(std::string_view text, std::string_view word, size_t from = 0) {
  for (size_t at = text.find(word, from); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const bool begins = at == 0 || !IsWordCharacter(text[at - 1]);
    const bool ends = at + word.size() == text.size() || !IsWordCharacter(text[at + word.size()]);
    if (begins && ends) return at;
  }
  return std::string_view::npos;
}

// Returns the text between the bracket that `text` begins with, after spaces, and its partner; nullopt: there is none.
std::optional<std::string_view> InBrackets(std::string_view text) {
  text = Trimmed(text);
  if (text.empty() || text.front() != '(') return std::nullopt;
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')' && --depth == 0) return text.substr(1, i - 1);
  }
  return std::nullopt;
}

// Splits at the commas that are not inside of brackets.
std::vector<std::string_view> SplitArguments(std::string_view text) {
  std::vector<std::string_view> arguments;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')') --depth;
    if (text[i] != ',' || depth > 0) continue;
    arguments.push_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  arguments.push_back(text.substr(begin));
  return arguments;
}

// A source without its directives, and the macros whose values are certain.
struct Plain {
  std::string text;
  std::string open;  // for each byte of the text: '1' inside of #if
  std::map<std::string, std::optional<std::string>, std::less<>> macros;  // nullopt: not certain
};

void Define(std::string_view rest, bool is_open, Plain* plain) {
  size_t end = 0;
  while (end < rest.size() && IsWordCharacter(rest[end])) ++end;
  const std::string name(rest.substr(0, end));
  const bool has_arguments = end < rest.size() && rest[end] == '(';
  const bool is_known = plain->macros.contains(name);
  std::optional<std::string> value(std::string(Trimmed(rest.substr(end))));
  if (is_open || has_arguments || is_known || value->ends_with('\\')) value.reset();
  plain->macros[name] = std::move(value);
}

Plain WithoutDirectives(std::string_view source) {
  Plain plain;
  int depth = 0;
  bool continues = false;  // the line before is a directive that ends in a backslash
  for (const auto& absl_line : absl::StrSplit(absl::string_view(source.data(), source.size()), '\n')) {
    std::string_view line(absl_line.data(), absl_line.size());
    const bool is_directive = continues || Trimmed(line).starts_with('#');
    const bool is_first = !continues;
    continues = is_directive && line.ends_with('\\');
    if (!is_directive) {
      plain.text += Cat(line, "\n");
      plain.open.append(line.size() + 1, depth > 0 ? '1' : '0');
      continue;
    }
    if (!is_first) continue;
    line = Trimmed(Trimmed(line).substr(1));
    if (line.starts_with("if")) ++depth;
    if (line.starts_with("endif")) --depth;
    if (record::TakePrefix("define ", &line)) Define(Trimmed(line), depth > 0, &plain);
    if (record::TakePrefix("undef ", &line)) plain.macros[std::string(Trimmed(line))] = std::nullopt;
  }
  return plain;
}

// Replaces macros until none is left. Returns nullopt for one that is not certain, or does not end.
std::optional<std::string> Expand(std::string text, const Plain& plain) {
  size_t at = 0;
  for (int expansions = 0; at < text.size();) {
    if (!IsWordCharacter(text[at])) {
      ++at;
      continue;
    }
    size_t end = at;
    while (end < text.size() && IsWordCharacter(text[end])) ++end;
    const auto macro = plain.macros.find(std::string_view(text).substr(at, end - at));
    if (macro == plain.macros.end()) {
      at = end;
      continue;
    }
    if (!macro->second || ++expansions > kMostExpansions || text.size() > kLongestExpansion) return std::nullopt;
    text.replace(at, end - at, Cat("(", *macro->second, ")"));
  }
  return text;
}

// In C, the quotient of integers is an integer.
std::string WithWholeQuotients(std::string_view text) {
  std::string result;
  for (const char c : text) result += c == '/' ? std::string("//") : std::string(1, c);
  return result;
}

// Returns the name of the function in "ns::scale<float, 64>".
std::string_view FunctionName(std::string_view kernel) {
  kernel = Trimmed(kernel.substr(0, kernel.find('<')));
  const size_t qualifier = kernel.rfind(':');
  return qualifier == std::string_view::npos ? kernel : Trimmed(kernel.substr(qualifier + 1));
}

// Returns the texts before the name in the definitions and declarations of the kernel; empty: one is inside of #if.
std::vector<std::string_view> Heads(const Plain& plain, std::string_view kernel, device::Dialect dialect) {
  const std::string_view text = plain.text;
  const std::string_view name = FunctionName(kernel);
  std::vector<std::string_view> heads;
  if (name.empty()) return heads;
  for (size_t at = FindWord(text, name); at != std::string_view::npos; at = FindWord(text, name, at + 1)) {
    const size_t before = text.find_last_of(";{}", at);
    const size_t begin = before == std::string_view::npos ? 0 : before + 1;
    const std::string_view head = text.substr(begin, at - begin);
    const bool is_kernel = dialect == device::Dialect::kCuda ? FindWord(head, "__global__") != std::string_view::npos
                                                             : FindWord(head, "__kernel") != std::string_view::npos ||
                                                                   FindWord(head, "kernel") != std::string_view::npos;
    if (!is_kernel) continue;
    if (std::string_view(plain.open).substr(begin, at - begin).find('1') != std::string_view::npos) return {};
    heads.push_back(head);
  }
  return heads;
}

std::optional<int64_t> WholeValue(const Expression& expression, absl::Span<const Value> values) {
  Evaluation evaluation;
  const absl::StatusOr<Value> value = expression.Evaluate(values, &evaluation);
  if (!value.ok() || !value->is_whole() || value->integer() < 1) return std::nullopt;
  return value->integer();
}

}  // namespace

DeclaredBlock DeclaredBlock::Find(std::string_view source, std::string_view kernel, device::Dialect dialect,
                                  absl::Span<const std::string> names) {
  const bool is_cuda = dialect == device::Dialect::kCuda;
  const std::string_view word = is_cuda ? "__launch_bounds__" : "reqd_work_group_size";
  if (source.find(word) == std::string_view::npos) return {};
  Plain plain = WithoutDirectives(source);
  for (const std::string& name : names) {
    // A parameter is a macro already; a second definition replaces it.
    if (plain.macros.contains(name)) plain.macros[name] = std::nullopt;
  }
  const std::vector<std::string_view> heads = Heads(plain, kernel, dialect);
  if (heads.size() != 1) return {};
  const size_t at = FindWord(heads[0], word);
  if (at == std::string_view::npos) return {};
  const std::optional<std::string_view> inside = InBrackets(heads[0].substr(at + word.size()));
  if (!inside) return {};
  std::vector<std::string_view> arguments = SplitArguments(*inside);
  if (is_cuda) arguments.resize(1);
  if (!is_cuda && arguments.size() != 3) return {};
  DeclaredBlock block;
  for (const std::string_view argument : arguments) {
    const std::optional<std::string> expanded = Expand(std::string(Trimmed(argument)), plain);
    if (!expanded) return {};
    absl::StatusOr<Expression> size = Expression::Compile(WithWholeQuotients(*expanded), names);
    if (!size.ok()) return {};
    block.sizes_.push_back(*std::move(size));
  }
  return block;
}

absl::Status DeclaredBlock::Check(const LaunchSize& size, absl::Span<const Value> values) const {
  std::vector<int64_t> declared;
  for (const Expression& expression : sizes_) {
    const std::optional<int64_t> value = WholeValue(expression, values);
    if (!value) return absl::OkStatus();
    declared.push_back(*value);
  }
  if (declared.size() == 1 && size.threads_per_block() > declared[0]) {
    return absl::ResourceExhaustedError(
        Cat(size.threads_per_block(), " threads per block; the kernel's __launch_bounds__ allows ", declared[0]));
  }
  if (declared.size() == 3 && !std::equal(declared.begin(), declared.end(), size.threads.begin())) {
    const auto text = [](const auto& sizes) { return Cat("(", sizes[0], ", ", sizes[1], ", ", sizes[2], ")"); };
    return absl::InvalidArgumentError(
        Cat("blocks of ", text(size.threads), "; the kernel's reqd_work_group_size is ", text(declared)));
  }
  return absl::OkStatus();
}

}  // namespace telemetry::worker::spec
