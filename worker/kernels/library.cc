#include "worker/kernels/library.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/base/nearest.h"
#include "proto/record/strings.h"
#include "worker/kernels/all.h"

namespace telemetry::worker::kernels {
namespace {

using record::AbslView;

std::string NearestName(std::string_view name) {
  std::vector<std::string> names;
  for (const LibraryKernel* kernel : AllKernels()) names.push_back(kernel->name);
  return Nearest(name, names);
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

}  // namespace telemetry::worker::kernels
