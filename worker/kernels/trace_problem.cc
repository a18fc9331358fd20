#include "worker/kernels/trace_problem.h"

#include <string>
#include <utility>

namespace telemetry::worker::kernels {
namespace {

ir::HostTensor MakeHostTensor(const TensorSpec& spec, const std::vector<int64_t>& strides, int position) {
  ir::HostTensor tensor = {.name = spec.name, .dtype = spec.dtype};
  for (size_t i = 0; i < spec.sizes.size(); ++i) {
    tensor.sizes.push_back({.text = std::to_string(spec.sizes[i]),
                            .value = spec.sizes[i],
                            .tensor = position,
                            .dimension = static_cast<int>(i)});
    tensor.strides.push_back({.text = std::to_string(strides[i]),
                              .value = strides[i],
                              .tensor = position,
                              .dimension = static_cast<int>(i)});
  }
  return tensor;
}

}  // namespace

absl::StatusOr<ir::DeviceIr> TraceProblem(const LibraryKernel& kernel, const Problem& problem,
                                          absl::Span<const std::vector<int64_t>> strides) {
  ir::TraceInputs inputs = {.kernel_name = kernel.name};
  for (size_t i = 0; i < problem.tensors.size(); ++i) {
    const TensorSpec& spec = problem.tensors[i];
    inputs.tensors.push_back(
        MakeHostTensor(spec, strides.empty() ? ir::RowMajorStrides(spec.sizes) : strides[i], static_cast<int>(i)));
  }
  for (const NumberArgument& number : kernel.numbers) {
    if (number.is_flag) {
      inputs.constants.emplace(number.name, problem.number(number.name) != 0);
    } else {
      inputs.scalars.push_back({.name = number.name});
      inputs.scalar_values.emplace(number.name, problem.number(number.name));
    }
  }
  ir::Trace trace(std::move(inputs));
  if (absl::Status status = kernel.body(trace); !status.ok()) trace.Fail(std::move(status));
  return trace.Finish();
}

std::vector<TensorSpec> ListOutputs(const ir::DeviceIr& device_ir) {
  std::vector<TensorSpec> outputs;
  for (const ir::HostTensor& tensor : device_ir.tensors) {
    if (!tensor.is_output) continue;
    TensorSpec spec = {.name = tensor.name, .dtype = tensor.dtype};
    for (const ir::Size& size : tensor.sizes) spec.sizes.push_back(size.value);
    outputs.push_back(std::move(spec));
  }
  return outputs;
}

}  // namespace telemetry::worker::kernels
