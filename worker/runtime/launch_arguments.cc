#include "worker/runtime/launch_arguments.h"

#include "worker/runtime/call_contract.h"

namespace telemetry::worker::runtime {
namespace {

using device::LaunchArgument;

LaunchArgument ScalarArgument(const Argument& argument) {
  if (const double* value = argument.As<double>()) return static_cast<float>(*value);
  if (const bool* value = argument.As<bool>()) return int32_t{*value ? 1 : 0};
  const int64_t value = *argument.As<int64_t>();
  if (argument.scalar_dtype() == device::DType::kI64) return value;
  return static_cast<int32_t>(value);
}

}  // namespace

void BuildLaunchArguments(const codegen::GeneratedKernel& generated, const Leaves& leaves,
                          absl::Span<const Tensor> outputs, LaunchArguments* arguments) {
  using Kind = codegen::Parameter::Kind;
  for (const codegen::Parameter& parameter : generated.parameters) {
    const auto index = static_cast<size_t>(parameter.index);
    if (parameter.kind == Kind::kScalar) {
      arguments->push_back(ScalarArgument(*leaves.scalars[index]));
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
}

void SetSizes(const Leaves& leaves, std::vector<ir::HostTensor>* tensors) {
  for (ir::HostTensor& tensor : *tensors) {
    for (ir::Size& size : tensor.sizes) size.value = EvaluateSize(size, leaves);
  }
}

}  // namespace telemetry::worker::runtime
