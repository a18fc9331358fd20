#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/runtime/argument.h"

namespace telemetry::worker::runtime {

// The kind of values that a parameter accepts. A ConstExpr is accepted where its value is.
enum class ParameterKind {
  kTensor,
  kScalar,     // a number that the generated code takes as an argument: int (i32, or i64 if the value needs it), float
               // (f32) or bool
  kConstexpr,  // a bool, int, float, string or dtype that is fixed when the kernel is traced
  kAny,        // depends on the argument: tensors and numbers are passed to the code, also those in lists, tuples, maps
               // and structs; strings, dtypes, devices, functions and None are fixed when the kernel is traced
};

// One parameter of a kernel.
struct Parameter {
  std::string name;
  ParameterKind kind = ParameterKind::kTensor;
  std::optional<Argument> default_value;
  bool is_variadic = false;  // not supported; Signature::Create rejects it with an explanation
};

// The parameters of a kernel. Immutable.
class Signature {
 public:
  using Named = std::map<std::string, Argument, std::less<>>;

  // INVALID_ARGUMENT: two parameters have the same name, a name is reserved or is not an identifier, a parameter is
  // variadic, a parameter without default follows one with a default, or a default has the wrong kind. The message
  // names the kernel and the parameter.
  static absl::StatusOr<Signature> Create(std::string_view kernel_name, std::vector<Parameter> parameters);

  const std::vector<Parameter>& parameters() const { return parameters_; }

  // Returns one argument per parameter, in order, with defaults filled in. INVALID_ARGUMENT: an argument is missing,
  // unexpected, surplus, given twice, or of the wrong kind; the message names the kernel and the argument.
  absl::StatusOr<Arguments> Normalize(absl::Span<const Argument> positional, const Named& named = {}) const;

  // Returns true if this number of positional arguments is complete, so that only Check is needed.
  bool IsComplete(size_t positional) const { return positional == parameters_.size(); }
  // Checks complete arguments. INVALID_ARGUMENT: an argument has the wrong kind.
  absl::Status Check(absl::Span<const Argument> arguments) const;

 private:
  Signature(std::string kernel_name, std::vector<Parameter> parameters)
      : kernel_name_(std::move(kernel_name)), parameters_(std::move(parameters)) {}

  absl::Status CheckNamed(size_t positional, const Named& named) const;

  std::string kernel_name_;
  std::vector<Parameter> parameters_;
};

}  // namespace telemetry::worker::runtime
