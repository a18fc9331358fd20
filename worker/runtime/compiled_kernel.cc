#include "worker/runtime/compiled_kernel.h"

#include <algorithm>
#include <utility>

#include "proto/base/status_macros.h"
#include "worker/runtime/launch_arguments.h"

namespace telemetry::worker::runtime {

CompiledKernel::CompiledKernel(const ir::DeviceIr& ir, codegen::GeneratedKernel generated,
                               std::shared_ptr<LoadedFunction> function)
    : generated_(std::move(generated)), function_(std::move(function)), sized_tensors_(ir.tensors) {
  has_static_grid_ = std::all_of(generated_.grid.begin(), generated_.grid.end(),
                                 [](const auto& axis) { return axis.extent.is_static; });
  if (has_static_grid_) static_grid_ = generated_.GridSize(ir.tensors);
}

device::FunctionAttributes CompiledKernel::attributes() const {
  const absl::MutexLock lock(&function_->mutex);
  return function_->function->attributes();
}

int64_t CompiledKernel::ComputeGrid(const Leaves& leaves) {
  if (has_static_grid_) return static_grid_;
  SetSizes(leaves, &sized_tensors_);
  return generated_.GridSize(sized_tensors_);
}

absl::Status CompiledKernel::Launch(const Leaves& leaves, absl::Span<const Tensor> outputs) {
  LaunchArguments arguments;
  BuildLaunchArguments(generated_, leaves, outputs, &arguments);
  const absl::MutexLock lock(&function_->mutex);
  const device::LaunchShape shape{
      .grid = ComputeGrid(leaves), .threads = generated_.threads, .shared_bytes = generated_.shared_bytes};
  return function_->function->Launch(shape, arguments);
}

}  // namespace telemetry::worker::runtime
