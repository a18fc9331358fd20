#include "worker/kernels/problem.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/record/strings.h"

namespace telemetry::worker::kernels {

int64_t TensorSpec::elements() const {
  int64_t elements = 1;
  for (const int64_t size : sizes) elements *= size;
  return elements;
}

std::string Problem::ToString() const {
  std::vector<std::string> parts;
  for (const TensorSpec& tensor : tensors) {
    parts.push_back(absl::StrCat(tensor.name, "=", absl::StrJoin(tensor.sizes, "x"), ":",
                                 record::AbslView(ShortName(tensor.dtype))));
  }
  for (const auto& [name, value] : numbers) parts.push_back(absl::StrCat(name, "=", value));
  return absl::StrJoin(parts, " ");
}

}  // namespace telemetry::worker::kernels
