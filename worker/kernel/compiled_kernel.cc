#include "worker/kernel/compiled_kernel.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "proto/record/strings.h"
#include "worker/kernel/call_contract.h"

namespace telemetry::worker {
namespace {

absl::StatusOr<LaunchArgument> ScalarArgument(const Argument& argument) {
  if (const double* value = argument.As<double>()) return LaunchArgument(static_cast<float>(*value));
  if (const bool* value = argument.As<bool>()) return LaunchArgument(int32_t{*value ? 1 : 0});
  const int64_t value = *argument.As<int64_t>();
  if (value < std::numeric_limits<int32_t>::min() || value > std::numeric_limits<int32_t>::max()) {
    return absl::OutOfRangeError(record::Cat("the number ", value, " does not fit the code's 32 bits"));
  }
  return LaunchArgument(static_cast<int32_t>(value));
}

}  // namespace

CompiledKernel::CompiledKernel(const ir::DeviceIr& ir, codegen::GeneratedKernel generated,
                               std::shared_ptr<LoadedFunction> function)
    : generated_(std::move(generated)), function_(std::move(function)), sized_tensors_(ir.tensors) {
  has_static_grid_ = std::all_of(generated_.grid.begin(), generated_.grid.end(),
                                 [](const auto& axis) { return axis.extent.is_static; });
  if (has_static_grid_) static_grid_ = generated_.GridSize(ir.tensors);
}

FunctionAttributes CompiledKernel::attributes() const {
  const absl::MutexLock lock(&function_->mutex);
  return function_->function->attributes();
}

absl::Status CompiledKernel::BuildArguments(const Leaves& leaves, absl::Span<const Tensor> outputs,
                                            LaunchArguments* arguments) const {
  using Kind = codegen::Parameter::Kind;
  for (const codegen::Parameter& parameter : generated_.parameters) {
    const auto index = static_cast<size_t>(parameter.index);
    if (parameter.kind == Kind::kScalar) {
      absl::StatusOr<LaunchArgument> scalar = ScalarArgument(*leaves.scalars[index]);
      if (!scalar.ok()) return scalar.status();
      arguments->push_back(*scalar);
      continue;
    }
    const size_t inputs = leaves.tensors.size();
    const Tensor& tensor = index < inputs ? *leaves.tensors[index] : outputs[index - inputs];
    const auto dimension = static_cast<size_t>(parameter.dimension);
    if (parameter.kind == Kind::kTensor) {
      arguments->push_back(tensor.buffer.get());
    } else {
      arguments->push_back(parameter.kind == Kind::kSize ? tensor.sizes[dimension] : tensor.strides[dimension]);
    }
  }
  return absl::OkStatus();
}

int64_t CompiledKernel::GridOf(const Leaves& leaves) {
  if (has_static_grid_) return static_grid_;
  for (ir::HostTensor& tensor : sized_tensors_) {
    for (ir::Size& size : tensor.sizes) size.value = ValueOf(size, leaves);
  }
  return generated_.GridSize(sized_tensors_);
}

absl::Status CompiledKernel::Launch(const Leaves& leaves, absl::Span<const Tensor> outputs) {
  LaunchArguments arguments;
  if (absl::Status status = BuildArguments(leaves, outputs, &arguments); !status.ok()) return status;
  const absl::MutexLock lock(&function_->mutex);
  const LaunchShape shape{
      .grid = GridOf(leaves), .threads = generated_.threads, .shared_bytes = generated_.shared_bytes};
  return function_->function->Launch(shape, arguments);
}

}  // namespace telemetry::worker
