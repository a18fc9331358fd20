#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "worker/ir/graph.h"
#include "worker/runtime/extra_keys.h"
#include "worker/runtime/leaves.h"

namespace telemetry::worker::runtime {

// The conditions on the arguments under which the code of one trace reads and writes only inside their memory. Checks
// the content of the specialization key and the extra keys without computing them, so that a call costs only some
// comparisons. Immutable.
class CallContract {
 public:
  // `arguments` are those of the trace; constants are copied.
  CallContract(const ir::DeviceIr& ir, const Leaves& leaves, bool static_shapes, ExtraKeys extra_keys);

  // INVALID_ARGUMENT: the code does not support an argument; the message names it.
  absl::Status Check(const Leaves& leaves) const;

  // Checks the conditions that a matching key does not imply: if sizes are not static, each tensor has every element
  // along the axes that index it, and the memory that its sizes and strides need.
  absl::Status CheckExtents(const Leaves& leaves) const;

  // Returns the sizes of an output for these arguments.
  static Dimensions ComputeSizes(const ir::HostTensor& tensor, const Leaves& leaves);

  const ExtraKeys& extra_keys() const { return extra_keys_; }

 private:
  // An axis of length `extent` indexes a dimension of length `size` of a tensor.
  struct Guard {
    std::string tensor;
    size_t dimension = 0;
    ir::Size size;
    ir::Size extent;
  };

  // The type of a number: its alternative of Argument::Value, and its dtype in the code.
  struct ScalarType {
    size_t alternative = 0;
    device::DType dtype = device::DType::kF32;
    friend bool operator==(const ScalarType&, const ScalarType&) = default;
  };

  static ScalarType TypeOf(const Argument& number) { return {number.value().index(), number.scalar_dtype()}; }
  void AddGuards(const ir::DeviceIr& ir);
  void AddGuard(const ir::HostTensor& tensor, size_t dimension, const ir::Size& extent);
  absl::Status Differs(const std::string& name, const std::string& how) const;

  const bool static_shapes_;
  const ExtraKeys extra_keys_;
  std::string kernel_name_;
  std::vector<std::string> tensor_names_;
  std::vector<Tensor> tensors_;  // without memory
  std::vector<std::string> scalar_names_;
  std::vector<ScalarType> scalar_types_;
  Arguments constants_;
  std::vector<Guard> guards_;
};

// Returns the value of a size for these arguments.
int64_t EvaluateSize(const ir::Size& size, const Leaves& leaves);

}  // namespace telemetry::worker::runtime
