#pragma once

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "worker/codegen/generate.h"
#include "worker/device/device.h"
#include "worker/ir/graph.h"
#include "worker/kernel/compile_cache.h"
#include "worker/kernel/leaves.h"
#include "worker/kernel/tensor.h"

namespace telemetry::worker {

// The code of one config, ready to be launched. Thread-safe as far as its device is (device.h): launches of one
// function wait for each other.
class CompiledKernel {
 public:
  CompiledKernel(const ir::DeviceIr& ir, codegen::GeneratedKernel generated, std::shared_ptr<LoadedFunction> function);

  // Queues a launch. The arguments fit the code (CallContract), and the outputs are as the IR wants them.
  // OUT_OF_RANGE: an int that i32 cannot hold. Other errors are Function::Launch's.
  absl::Status Launch(const Leaves& leaves, absl::Span<const Tensor> outputs);

  const codegen::GeneratedKernel& generated() const { return generated_; }
  FunctionAttributes attributes() const;

 private:
  int64_t GridOf(const Leaves& leaves) ABSL_EXCLUSIVE_LOCKS_REQUIRED(function_->mutex);

  const codegen::GeneratedKernel generated_;
  const std::shared_ptr<LoadedFunction> function_;
  bool has_static_grid_ = true;
  int64_t static_grid_ = 0;
  // The IR's tensors with the sizes of one launch: kept, for making them takes longer than a launch.
  std::vector<ir::HostTensor> sized_tensors_ ABSL_GUARDED_BY(function_->mutex);
};

}  // namespace telemetry::worker
