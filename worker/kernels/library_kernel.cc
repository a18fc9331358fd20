#include "worker/kernels/library_kernel.h"

#include <utility>

namespace telemetry::worker::kernels {

Problem MakeProblem(const LibraryKernel& kernel, device::DType dtype, const Sizes& sizes, const Numbers& numbers) {
  Problem problem = {.numbers = numbers, .sizes = sizes};
  problem.sizes.insert(kernel.default_sizes.begin(), kernel.default_sizes.end());
  for (const NumberArgument& number : kernel.numbers) problem.numbers.emplace(number.name, number.default_value);
  for (const TensorArgument& tensor : kernel.tensors) {
    TensorSpec spec = {.name = tensor.name, .dtype = tensor.dtype.value_or(dtype)};
    for (const std::string& dimension : tensor.dimensions) spec.sizes.push_back(problem.size(dimension));
    problem.tensors.push_back(std::move(spec));
  }
  return problem;
}

Problem DefaultProblem(const LibraryKernel& kernel) { return MakeProblem(kernel, kernel.default_dtype); }

Cost ComputeCost(const LibraryKernel& kernel, const Problem& problem, absl::Span<const TensorSpec> outputs) {
  Cost cost = {.flops = kernel.flops(problem)};
  for (const TensorSpec& tensor : problem.tensors) cost.bytes += static_cast<double>(tensor.bytes());
  for (const TensorSpec& tensor : outputs) cost.bytes += static_cast<double>(tensor.bytes());
  return cost;
}

}  // namespace telemetry::worker::kernels
