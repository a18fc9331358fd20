#include "worker/kernels/kernel_spec.h"

#include <string>
#include <utility>

#include "proto/base/status_macros.h"

namespace telemetry::worker::kernels {
namespace {

using runtime::Argument;
using runtime::Arguments;
using runtime::KernelSpec;
using runtime::ParameterKind;

Argument MakeNumber(const NumberArgument& number, double value) {
  return number.is_flag ? Argument(value != 0) : Argument(value);
}

void AddNumbers(const LibraryKernel& kernel, const Problem& problem, Arguments* to) {
  for (const NumberArgument& number : kernel.numbers) to->push_back(MakeNumber(number, problem.number(number.name)));
}

}  // namespace

KernelSpec MakeKernelSpec(const LibraryKernel& kernel) {
  KernelSpec spec = {.name = kernel.name, .body = kernel.body, .source = std::string(SourceText(kernel.name))};
  for (const TensorArgument& tensor : kernel.tensors) spec.parameters.push_back({.name = tensor.name});
  for (const NumberArgument& number : kernel.numbers) {
    spec.parameters.push_back({.name = number.name,
                               .kind = number.is_flag ? ParameterKind::kConstexpr : ParameterKind::kScalar,
                               .default_value = MakeNumber(number, number.default_value)});
  }
  return spec;
}

absl::StatusOr<Arguments> ArgumentsOn(const std::shared_ptr<device::Device>& device, const LibraryKernel& kernel,
                                      const Case& made) {
  Arguments arguments;
  for (const TensorArgument& tensor : kernel.tensors) {
    ASSIGN_OR_RETURN(runtime::Tensor copied, runtime::ToDevice(device, made.tensor(tensor.name)));
    arguments.emplace_back(std::move(copied));
  }
  AddNumbers(kernel, made.problem, &arguments);
  return arguments;
}

Arguments DescribedArguments(const std::shared_ptr<device::Device>& device, const LibraryKernel& kernel,
                             const Problem& problem) {
  Arguments arguments;
  for (const TensorSpec& tensor : problem.tensors) {
    const ir::HostArray layout = {
        .dtype = tensor.dtype, .sizes = tensor.sizes, .strides = ir::RowMajorStrides(tensor.sizes)};
    arguments.emplace_back(runtime::DescribeOnDevice(device, layout));
  }
  AddNumbers(kernel, problem, &arguments);
  return arguments;
}

Arguments ArgumentsOnHost(const LibraryKernel& kernel, Case made) {
  Arguments arguments;
  for (const TensorArgument& tensor : kernel.tensors) {
    arguments.emplace_back(runtime::Tensor::OnHost(std::move(made.tensors.find(tensor.name)->second)));
  }
  AddNumbers(kernel, made.problem, &arguments);
  return arguments;
}

}  // namespace telemetry::worker::kernels
