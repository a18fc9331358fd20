#include "worker/kernels/problem.h"

#include <cmath>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/record/strings.h"
#include "worker/ir/half.h"
#include "worker/kernels/library.h"

namespace telemetry::worker::kernels {
namespace {

using record::AbslView;

// Integers that are data: sums of a few thousand of them stay inside i32.
constexpr int64_t kLargestInteger = 1000;

int64_t ElementsOf(absl::Span<const int64_t> sizes) {
  int64_t elements = 1;
  for (const int64_t size : sizes) elements *= size;
  return elements;
}

// Evenly distributed in [0, 1): written out, as the standard's distributions differ between libraries.
double Uniform(std::mt19937_64& random) { return std::ldexp(static_cast<double>(random() >> 11), -53); }

double DrawInteger(std::mt19937_64& random, int64_t low, int64_t high) {
  return static_cast<double>(low) + std::floor(Uniform(random) * static_cast<double>(high - low));
}

ir::HostArray DrawTensor(const LibraryKernel& kernel, const TensorArgument& argument, const TensorSpec& spec,
                         const Problem& problem, std::mt19937_64& random) {
  ir::HostArray array = ir::HostArray::Dense(spec.dtype, spec.sizes);
  for (double& value : array.data) {
    if (!argument.indexes.empty()) {
      value = DrawInteger(random, 0, problem.size(argument.indexes));
    } else if (IsFloat(spec.dtype)) {
      value = ir::RoundTo(spec.dtype, kernel.low + (kernel.high - kernel.low) * Uniform(random));
    } else {
      value = spec.dtype == DType::kBool ? DrawInteger(random, 0, 2)
                                         : DrawInteger(random, -kLargestInteger, kLargestInteger + 1);
    }
  }
  return array;
}

}  // namespace

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
    made.tensors.emplace(kernel.tensors[i].name,
                         DrawTensor(kernel, kernel.tensors[i], made.problem.tensors[i], made.problem, random));
  }
  return made;
}

}  // namespace telemetry::worker::kernels
