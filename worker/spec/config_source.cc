#include "worker/spec/config_source.h"

#include <utility>

#include "absl/status/status.h"
#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/device/compile_options.h"
#include "worker/spec/source_text.h"

namespace telemetry::worker::spec {
namespace {

using record::Cat;

absl::StatusOr<std::string> MacroValue(const Value& value) {
  if (value.kind() == Value::Kind::kBool) return std::string(value.integer() != 0 ? "1" : "0");
  const std::string text = value.is_text() ? value.text() : value.ToString();
  if (text.find_first_of("\r\n") == std::string::npos) return text;
  return absl::InvalidArgumentError(Cat("the value ", value.ToString(), " has a line break and cannot be a macro"));
}

// Returns true if the text has the name as a word.
bool HasWord(std::string_view text, std::string_view name) {
  for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const size_t end = at + name.size();
    if ((at == 0 || !IsWordCharacter(text[at - 1])) && (end == text.size() || !IsWordCharacter(text[end]))) return true;
  }
  return false;
}

// Returns true if the name is part of a value of another parameter.
bool IsInValues(const Specification& spec, std::string_view name) {
  for (const Parameter& parameter : spec.parameters) {
    for (const Value& value : parameter.values) {
      if (value.is_text() && HasWord(value.text(), name)) return true;
    }
  }
  return false;
}

// Returns for each parameter whether the text can name its macro. Files that the compiler includes, and words that "##"
// joins, can name every one.
std::vector<bool> FindNamed(const Specification& spec, std::string_view text) {
  const bool is_open = text.find("include") != std::string_view::npos || text.find("##") != std::string_view::npos;
  std::vector<bool> is_named;
  for (const Parameter& parameter : spec.parameters) {
    is_named.push_back(is_open || HasWord(text, parameter.name) || IsInValues(spec, parameter.name));
  }
  return is_named;
}

}  // namespace

absl::StatusOr<std::vector<Macro>> MacrosOfConfig(const Specification& spec, const std::vector<size_t>& config) {
  std::vector<Macro> macros;
  for (size_t i = 0; i < spec.parameters.size(); ++i) {
    ASSIGN_OR_RETURN(std::string value, MacroValue(spec.parameters[i].values[config[i]]));
    macros.push_back({.name = spec.parameters[i].name, .value = std::move(value)});
  }
  return macros;
}

absl::StatusOr<ConfigSource> ConfigSource::Create(const Specification& spec, const std::string& kernel_file,
                                                  const std::string& kernel_name) {
  ConfigSource source;
  ASSIGN_OR_RETURN(source.body_, ReadSource(kernel_file, spec.folder, spec.compiler_options));
  ASSIGN_OR_RETURN(CompilerOptions options, SplitOptions(spec.compiler_options));
  source.function_ = kernel_name;
  device::SourceOptions of_source = {.options = std::move(options.others)};
  if (spec.dialect == device::Dialect::kCuda) {
    // For the includes that stay in the text.
    for (const std::string& folder : options.include_folders) of_source.options.push_back(Cat("-I", folder));
    of_source.kernel = kernel_name;
  }
  source.head_ = device::FormatSourceOptions(of_source);
  for (const std::string& define : options.defines) source.head_ += Cat(define, "\n");
  source.is_named_ = FindNamed(spec, source.text());
  return source;
}

absl::StatusOr<std::string> ConfigSource::For(const Specification& spec, const std::vector<size_t>& config) const {
  std::string text = head_;
  ASSIGN_OR_RETURN(const std::vector<Macro> macros, MacrosOfConfig(spec, config));
  for (size_t i = 0; i < macros.size(); ++i) {
    if (is_named_[i]) text += Cat("#define ", macros[i].name, " ", macros[i].value, "\n");
  }
  return text + body_;
}

}  // namespace telemetry::worker::spec
