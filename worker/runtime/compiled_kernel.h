#pragma once

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "worker/codegen/generated_kernel.h"
#include "worker/device/device.h"
#include "worker/ir/graph.h"
#include "worker/runtime/compile_cache.h"
#include "worker/runtime/leaves.h"
#include "worker/runtime/tensor.h"

namespace telemetry::worker::runtime {

// The code of one config, ready to be launched. Thread-safe within the thread rules of the device (device.h): launches
// of one function wait for each other.
class CompiledKernel {
 public:
  CompiledKernel(const ir::DeviceIr& ir, codegen::GeneratedKernel generated, std::shared_ptr<LoadedFunction> function);

  // Queues a launch. The arguments must fit the code (CallContract), and the outputs must fit the IR. Returns
  // the errors of Function::Launch.
  absl::Status Launch(const Leaves& leaves, absl::Span<const Tensor> outputs);

  const codegen::GeneratedKernel& generated() const { return generated_; }
  device::FunctionAttributes attributes() const;

 private:
  int64_t ComputeGrid(const Leaves& leaves) ABSL_EXCLUSIVE_LOCKS_REQUIRED(function_->mutex);

  const codegen::GeneratedKernel generated_;
  const std::shared_ptr<LoadedFunction> function_;
  bool has_static_grid_ = true;
  int64_t static_grid_ = 0;
  // The IR's tensors with the sizes of one launch. Kept, because creating them takes longer than a launch.
  std::vector<ir::HostTensor> sized_tensors_ ABSL_GUARDED_BY(function_->mutex);
};

}  // namespace telemetry::worker::runtime
