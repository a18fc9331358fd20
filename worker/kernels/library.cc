#include "worker/kernels/library.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/record/strings.h"
#include "worker/kernels/all.h"

namespace telemetry::worker::kernels {
namespace {

using record::AbslView;

// Letters to insert, delete or change to make one of the other.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, row[j + 1] + 1, changed});
    }
  }
  return row.back();
}

std::string NearestName(std::string_view name) {
  const auto kernels = AllKernels();
  const auto nearest = std::min_element(kernels.begin(), kernels.end(), [name](const auto* a, const auto* b) {
    return EditDistance(name, a->name) < EditDistance(name, b->name);
  });
  // Beyond half of its letters nothing is meant by it.
  return EditDistance(name, (*nearest)->name) * 2 <= name.size() ? (*nearest)->name : "";
}

}  // namespace

absl::Span<const LibraryKernel* const> AllKernels() {
  static const auto* const kernels = new std::vector<const LibraryKernel*>{
      &Add(),    &Attention(), &Bmm(),     &CrossEntropy(),   &Exp(), &Geglu(), &LayerNorm(), &LongSum(),
      &Matmul(), &RmsNorm(),   &Softmax(), &SoftmaxTwoPass(), &Sum(),
  };
  return *kernels;
}

absl::StatusOr<const LibraryKernel*> FindKernel(std::string_view name) {
  for (const LibraryKernel* kernel : AllKernels()) {
    if (kernel->name == name) return kernel;
  }
  const std::string nearest = NearestName(name);
  return absl::NotFoundError(absl::StrCat(
      "there is no kernel \"", AbslView(name), "\"",
      nearest.empty() ? "" : absl::StrCat(" (did you mean ", nearest, "?)"),
      "; the library has: ", absl::StrJoin(AllKernels(), ", ", [](std::string* out, const LibraryKernel* kernel) {
        out->append(kernel->name);
      })));
}

Cost CostOf(const LibraryKernel& kernel, const Problem& problem, absl::Span<const TensorSpec> outputs) {
  Cost cost = {.flops = kernel.flops(problem)};
  for (const TensorSpec& tensor : problem.tensors) cost.bytes += static_cast<double>(tensor.bytes());
  for (const TensorSpec& tensor : outputs) cost.bytes += static_cast<double>(tensor.bytes());
  return cost;
}

}  // namespace telemetry::worker::kernels
