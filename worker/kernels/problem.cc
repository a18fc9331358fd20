#include "worker/kernels/problem.h"

#include <cmath>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/record/strings.h"
#include "worker/ir/half.h"
#include "worker/kernels/draw.h"
#include "worker/kernels/library.h"

namespace telemetry::worker::kernels {
namespace {

using record::AbslView;

// The largest magnitude of integer inputs; sums of a few thousand of them fit into i32.
constexpr double kLargestInteger = 1000;

int64_t ElementsOf(absl::Span<const int64_t> sizes) {
  int64_t elements = 1;
  for (const int64_t size : sizes) elements *= size;
  return elements;
}

// Returns a value that is uniformly distributed in [0, 1). Does not use the standard's distributions, because their
// results differ between libraries.
double Uniform(std::mt19937_64& random) { return std::ldexp(static_cast<double>(random() >> 11), -53); }

}  // namespace

DrawRange RangeOf(const LibraryKernel& kernel, size_t argument, const Problem& problem) {
  const std::string& indexes = kernel.tensors[argument].indexes;
  if (!indexes.empty()) return {.low = 0, .high = static_cast<double>(problem.size(indexes))};
  const DType dtype = problem.tensors[argument].dtype;
  if (IsFloat(dtype)) return {.low = kernel.low, .high = kernel.high};
  if (dtype == DType::kBool) return {.low = 0, .high = 2};
  return {.low = -kLargestInteger, .high = kLargestInteger + 1};
}

std::vector<double> Draw(DType dtype, const DrawRange& range, int64_t elements, std::mt19937_64& random) {
  std::vector<double> values(static_cast<size_t>(elements));
  for (double& value : values) {
    const double part = (range.high - range.low) * Uniform(random);
    value = IsFloat(dtype) ? ir::RoundTo(dtype, range.low + part) : range.low + std::floor(part);
  }
  return values;
}

int64_t TensorSpec::elements() const { return ElementsOf(sizes); }

std::string Problem::ToString() const {
  std::vector<std::string> parts;
  for (const TensorSpec& tensor : tensors) {
    parts.push_back(
        absl::StrCat(tensor.name, "=", absl::StrJoin(tensor.sizes, "x"), ":", AbslView(ShortName(tensor.dtype))));
  }
  for (const auto& [name, value] : numbers) parts.push_back(absl::StrCat(name, "=", value));
  return absl::StrJoin(parts, " ");
}

Problem MakeProblem(const LibraryKernel& kernel, DType dtype, const Sizes& sizes, const Numbers& numbers) {
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

Case MakeCase(const LibraryKernel& kernel, Problem problem, uint64_t seed) {
  Case made = {.problem = std::move(problem)};
  std::mt19937_64 random(seed);
  for (size_t i = 0; i < kernel.tensors.size(); ++i) {
    const TensorSpec& spec = made.problem.tensors[i];
    ir::HostArray array{.dtype = spec.dtype, .sizes = spec.sizes, .strides = ir::RowMajorStrides(spec.sizes)};
    array.data = Draw(spec.dtype, RangeOf(kernel, i, made.problem), spec.elements(), random);
    made.tensors.emplace(kernel.tensors[i].name, std::move(array));
  }
  return made;
}

}  // namespace telemetry::worker::kernels
