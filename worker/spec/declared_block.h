#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "worker/device/device.h"
#include "worker/spec/expression.h"
#include "worker/spec/launch_size.h"
#include "worker/spec/value.h"

namespace telemetry::worker::spec {

// The block that a kernel's source declares: CUDA's `__launch_bounds__(threads, ...)`, or OpenCL's
// `reqd_work_group_size(x, y, z)`. Every launch with another block fails, so such configs need not be compiled.
//
// The declaration may use parameters and macros. It is taken into account only if its value is certain: there is one
// definition of the kernel, the definition and the macros are not inside of `#if`, each macro is defined once and
// without arguments, and the result is an expression of the specification's language. Immutable.
class DeclaredBlock {
 public:
  // Nothing is declared.
  DeclaredBlock() = default;

  // Finds the declaration of a kernel in a source of NormalizeSource. `kernel` is a name or a C++ expression
  // (Specification::kernel_name). `names` are the variables of expressions (Specification::names).
  static DeclaredBlock Find(std::string_view source, std::string_view kernel, device::Dialect dialect,
                            absl::Span<const std::string> names);

  // Returns RESOURCE_EXHAUSTED if the launch has more threads than `__launch_bounds__` allows, and INVALID_ARGUMENT if
  // its block is not that of `reqd_work_group_size`. `values` are those of the names for the config.
  absl::Status Check(const LaunchSize& size, absl::Span<const Value> values) const;

 private:
  std::vector<Expression> sizes_;  // empty: nothing; one: __launch_bounds__; three: reqd_work_group_size
};

}  // namespace telemetry::worker::spec
