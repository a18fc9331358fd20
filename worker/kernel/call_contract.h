#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "worker/ir/graph.h"
#include "worker/kernel/extra_keys.h"
#include "worker/kernel/leaves.h"

namespace telemetry::worker {

// Which arguments the code of one trace may be launched with, such that it reads and writes inside their memory. Checks
// what a specialization key and extra keys would, without computing them: a call costs some comparisons. Immutable.
class CallContract {
 public:
  // `arguments` are those of the trace; constants are kept.
  CallContract(const ir::DeviceIr& ir, const Leaves& leaves, bool static_shapes, ExtraKeys extra_keys);

  // INVALID_ARGUMENT names the argument that the code is not for.
  absl::Status Check(const Leaves& leaves) const;

  // The part that a matching key does not already say: where sizes are not static, that a tensor has every element
  // along the axes that index it, and the memory that its sizes and strides want.
  absl::Status CheckExtents(const Leaves& leaves) const;

  // Sizes of an output of these arguments.
  static Dimensions SizesOf(const ir::HostTensor& tensor, const Leaves& leaves);

  const ExtraKeys& extra_keys() const { return extra_keys_; }

 private:
  // A dimension of a tensor, `size` long, is indexed by an axis that is `extent` long.
  struct Guard {
    std::string tensor;
    size_t dimension = 0;
    ir::Size size;
    ir::Size extent;
  };

  void AddGuards(const ir::DeviceIr& ir);
  void AddGuard(const ir::HostTensor& tensor, size_t dimension, const ir::Size& extent);
  absl::Status Differs(const std::string& name, const std::string& how) const;

  const bool static_shapes_;
  const ExtraKeys extra_keys_;
  std::string kernel_name_;
  std::vector<std::string> tensor_names_;
  std::vector<Tensor> tensors_;  // without memory
  std::vector<std::string> scalar_names_;
  std::vector<size_t> scalar_types_;  // indices of Argument::Value
  Arguments constants_;
  std::vector<Guard> guards_;
};

// The value of a size for these arguments.
int64_t ValueOf(const ir::Size& size, const Leaves& leaves);

}  // namespace telemetry::worker
