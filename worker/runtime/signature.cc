#include "worker/runtime/signature.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_join.h"
#include "proto/base/status_macros.h"
#include "proto/record/counted.h"
#include "proto/record/strings.h"
#include "worker/runtime/reserved_names.h"

namespace telemetry::worker::runtime {

using record::Cat;

namespace {

bool IsConstant(const Argument& argument) {
  return argument.is_number() || argument.As<std::string>() != nullptr || argument.As<device::DType>() != nullptr;
}

bool Fits(ParameterKind kind, const Argument& argument) {
  if (const ConstExpr* constant = argument.As<ConstExpr>()) return Fits(kind, *constant->value);
  switch (kind) {
    case ParameterKind::kTensor:
      return argument.As<Tensor>() != nullptr;
    case ParameterKind::kScalar:
      return argument.is_number();
    case ParameterKind::kConstexpr:
      return IsConstant(argument);
    case ParameterKind::kAny:
      return true;
  }
  return false;
}

std::string_view Wanted(ParameterKind kind) {
  switch (kind) {
    case ParameterKind::kTensor:
      return "a tensor";
    case ParameterKind::kScalar:
      return "a number";
    case ParameterKind::kConstexpr:
      return "a bool, int, float, str or dtype";
    case ParameterKind::kAny:
      break;
  }
  return "any value";
}

absl::Status CheckKind(std::string_view kernel, const Parameter& parameter, const Argument& argument) {
  if (Fits(parameter.kind, argument)) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat(kernel, "(): parameter '", parameter.name, "' takes ", Wanted(parameter.kind),
                                        ", not ", argument.TypeName()));
}

std::string QuotedNames(const std::vector<std::string>& names) {
  return absl::StrJoin(names, ", ", [](std::string* out, const std::string& name) { *out += Cat("'", name, "'"); });
}

}  // namespace

absl::StatusOr<Signature> Signature::Create(std::string_view kernel_name, std::vector<Parameter> parameters) {
  std::set<std::string_view> seen;
  bool defaults_began = false;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& parameter = parameters[i];
    const std::string what = Cat("parameter ", i + 1, " of kernel '", kernel_name, "'");
    RETURN_IF_ERROR(CheckName(what, parameter.name));
    if (!seen.insert(parameter.name).second) {
      return absl::InvalidArgumentError(Cat(what, " has the name '", parameter.name, "' of an earlier one"));
    }
    if (parameter.is_variadic) {
      return absl::InvalidArgumentError(
          Cat(what, ", '", parameter.name, "', is variadic; take a list or a map as one argument"));
    }
    if (defaults_began && !parameter.default_value.has_value()) {
      return absl::InvalidArgumentError(
          Cat(what, ", '", parameter.name, "', has no default but comes after one that does"));
    }
    if (parameter.default_value.has_value()) {
      defaults_began = true;
      absl::Status status = CheckKind(kernel_name, parameter, *parameter.default_value);
      if (!status.ok()) return absl::InvalidArgumentError(Cat("default of ", what, ": ", status.message()));
    }
  }
  return Signature(std::string(kernel_name), std::move(parameters));
}

absl::Status Signature::CheckNamed(size_t positional, const Named& named) const {
  std::vector<std::string> unexpected;
  for (const auto& [name, argument] : named) {
    const auto found = std::find_if(parameters_.begin(), parameters_.end(),
                                    [&name = name](const Parameter& parameter) { return parameter.name == name; });
    if (found == parameters_.end()) {
      unexpected.push_back(name);
    } else if (static_cast<size_t>(found - parameters_.begin()) < positional) {
      return absl::InvalidArgumentError(
          Cat(kernel_name_, "(): argument '", name, "' is given by position and by name"));
    }
  }
  if (unexpected.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat(kernel_name_, "(): unexpected argument ", QuotedNames(unexpected)));
}

absl::StatusOr<Arguments> Signature::Normalize(absl::Span<const Argument> positional, const Named& named) const {
  if (positional.size() > parameters_.size()) {
    const Argument& first_surplus = positional[parameters_.size()];
    return absl::InvalidArgumentError(Cat(kernel_name_, "(): takes ", record::Counted(parameters_.size(), "argument"),
                                          " but ", positional.size(), " were given; number ", parameters_.size() + 1,
                                          " (", first_surplus.TypeName(), ") is surplus"));
  }
  RETURN_IF_ERROR(CheckNamed(positional.size(), named));

  Arguments arguments(positional.begin(), positional.end());
  arguments.reserve(parameters_.size());
  std::vector<std::string> missing;
  for (size_t i = positional.size(); i < parameters_.size(); ++i) {
    const Parameter& parameter = parameters_[i];
    const auto given = named.find(parameter.name);
    if (given != named.end()) {
      arguments.push_back(given->second);
    } else if (parameter.default_value.has_value()) {
      arguments.push_back(*parameter.default_value);
    } else {
      missing.push_back(parameter.name);
    }
  }
  if (!missing.empty()) {
    return absl::InvalidArgumentError(Cat(kernel_name_, "(): missing argument ", QuotedNames(missing)));
  }
  RETURN_IF_ERROR(Check(arguments));
  return arguments;
}

absl::Status Signature::Check(absl::Span<const Argument> arguments) const {
  for (size_t i = 0; i < parameters_.size(); ++i) {
    if (Fits(parameters_[i].kind, arguments[i])) continue;
    return CheckKind(kernel_name_, parameters_[i], arguments[i]);
  }
  return absl::OkStatus();
}

}  // namespace telemetry::worker::runtime
