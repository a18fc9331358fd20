#include "worker/runtime/launch_arguments.h"

#include <limits>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/runtime/call_contract.h"

namespace telemetry::worker::runtime {
namespace {

using device::LaunchArgument;

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

absl::Status BuildLaunchArguments(const codegen::GeneratedKernel& generated, const Leaves& leaves,
                                  absl::Span<const Tensor> outputs, LaunchArguments* arguments) {
  using Kind = codegen::Parameter::Kind;
  for (const codegen::Parameter& parameter : generated.parameters) {
    const auto index = static_cast<size_t>(parameter.index);
    if (parameter.kind == Kind::kScalar) {
      ASSIGN_OR_RETURN(LaunchArgument scalar, ScalarArgument(*leaves.scalars[index]));
      arguments->push_back(scalar);
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

void SetSizes(const Leaves& leaves, std::vector<ir::HostTensor>* tensors) {
  for (ir::HostTensor& tensor : *tensors) {
    for (ir::Size& size : tensor.sizes) size.value = EvaluateSize(size, leaves);
  }
}

}  // namespace telemetry::worker::runtime
