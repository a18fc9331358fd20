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
#include "worker/kernel/argument.h"

namespace telemetry::worker {

enum class ParameterKind {
  kTensor,
  kScalar,     // a number that the generated code takes as an argument: int (i32), float (f32) or bool (i32)
  kConstexpr,  // a bool, int, float, string or dtype that is fixed when the kernel is traced
  kAny,        // decided by the argument: tensors and numbers, also inside lists, tuples, maps and structs, as above;
               // strings, dtypes, devices, functions and None are fixed when the kernel is traced
};

struct Parameter {
  std::string name;
  ParameterKind kind = ParameterKind::kTensor;
  std::optional<Argument> default_value;
  bool is_variadic = false;  // refused; here so that a caller who describes a variadic function hears why
};

// The parameters of a kernel. Immutable.
class Signature {
 public:
  using Named = std::map<std::string, Argument, std::less<>>;

  // INVALID_ARGUMENT: two parameters of one name, a name that is reserved or no identifier, a variadic parameter, one
  // without default behind one that has a default, or a default of the wrong kind. The message names kernel and
  // parameter.
  static absl::StatusOr<Signature> Create(std::string_view kernel_name, std::vector<Parameter> parameters);

  const std::vector<Parameter>& parameters() const { return parameters_; }

  // One argument per parameter, in their order, defaults filled in. INVALID_ARGUMENT: one is missing, unexpected,
  // surplus, given twice, or of another kind than its parameter; the message names kernel and argument.
  absl::StatusOr<Arguments> Normalize(absl::Span<const Argument> positional, const Named& named = {}) const;

  // Whether that many positional arguments need no more than Check: nothing is left to fill in.
  bool IsComplete(size_t positional) const { return positional == parameters_.size(); }
  // Complete arguments: INVALID_ARGUMENT where one is of another kind than its parameter.
  absl::Status Check(absl::Span<const Argument> arguments) const;

 private:
  Signature(std::string kernel_name, std::vector<Parameter> parameters)
      : kernel_name_(std::move(kernel_name)), parameters_(std::move(parameters)) {}

  absl::Status CheckNamed(size_t positional, const Named& named) const;

  std::string kernel_name_;
  std::vector<Parameter> parameters_;
};

}  // namespace telemetry::worker
