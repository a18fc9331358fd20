#include "worker/kernels/draw.h"

#include <cmath>
#include <utility>

#include "proto/base/parallel.h"
#include "worker/ir/half.h"

namespace telemetry::worker::kernels {
namespace {

using device::DType;

// The largest magnitude of integer inputs; sums of a few thousand of them fit into i32.
constexpr double kLargestInteger = 1000;

}  // namespace

DrawRange ArgumentRange(const LibraryKernel& kernel, size_t argument, const Problem& problem) {
  const std::string& indexes = kernel.tensors[argument].indexes;
  if (!indexes.empty()) return {.low = 0, .high = static_cast<double>(problem.size(indexes))};
  const DType dtype = problem.tensors[argument].dtype;
  if (IsFloat(dtype)) return {.low = kernel.low, .high = kernel.high};
  if (dtype == DType::kBool) return {.low = 0, .high = 2};
  return {.low = -kLargestInteger, .high = kLargestInteger + 1};
}

std::vector<double> Draw(DType dtype, const DrawRange& range, int64_t elements, Random& random) {
  std::vector<double> values(static_cast<size_t>(elements));
  ForEachPart(values.size(), kElementsPerPart, [&](size_t begin, size_t end) {
    Random numbers = random;
    numbers.Skip(begin);
    for (size_t i = begin; i < end; ++i) {
      const double part = (range.high - range.low) * numbers.Real();
      values[i] = IsFloat(dtype) ? ir::RoundTo(dtype, range.low + part) : range.low + std::floor(part);
    }
  });
  random.Skip(values.size());
  return values;
}

Case MakeCase(const LibraryKernel& kernel, Problem problem, uint64_t seed) {
  Case made = {.problem = std::move(problem)};
  Random random(seed);
  for (size_t i = 0; i < kernel.tensors.size(); ++i) {
    const TensorSpec& spec = made.problem.tensors[i];
    ir::HostArray array{.dtype = spec.dtype, .sizes = spec.sizes, .strides = ir::RowMajorStrides(spec.sizes)};
    array.data = Draw(spec.dtype, ArgumentRange(kernel, i, made.problem), spec.elements(), random);
    made.tensors.emplace(kernel.tensors[i].name, std::move(array));
  }
  return made;
}

}  // namespace telemetry::worker::kernels
