#include "worker/wrapper/concatenate.h"

#include "proto/record/strings.h"

namespace telemetry::worker::wrapper {

using record::Cat;

std::vector<int64_t> ConcatenatedSizes(absl::Span<const PlanBuffer> tensors, int dimension) {
  std::vector<int64_t> sizes = tensors[0].sizes;
  for (size_t i = 1; i < tensors.size(); ++i) {
    sizes[static_cast<size_t>(dimension)] += tensors[i].sizes[static_cast<size_t>(dimension)];
  }
  return sizes;
}

std::vector<SizeForm> ConcatenatedForms(absl::Span<const PlanBuffer> tensors, int dimension) {
  std::vector<SizeForm> forms;
  for (size_t i = 0; i < tensors[0].sizes.size(); ++i) forms.push_back(tensors[0].FormOf(i));
  SizeForm& joined = forms[static_cast<size_t>(dimension)];
  for (size_t i = 1; i < tensors.size(); ++i) joined = joined + tensors[i].FormOf(static_cast<size_t>(dimension));
  return forms;
}

std::string WhyNotConcatenated(absl::Span<const PlanBuffer> tensors, int dimension) {
  if (tensors.empty() || tensors.size() > kMostConcatenated) {
    return Cat(tensors.size(), " tensors are given, but 1 to ", kMostConcatenated, " can be concatenated");
  }
  const PlanBuffer& first = tensors[0];
  if (dimension < 0 || static_cast<size_t>(dimension) >= first.sizes.size()) {
    return Cat("buffer '", first.name, "' is ", first.LayoutText(), ", which has no dimension ", dimension);
  }
  for (const PlanBuffer& tensor : tensors) {
    std::vector<int64_t> wanted = first.sizes;
    const bool has_rank = tensor.sizes.size() == wanted.size();
    if (has_rank) wanted[static_cast<size_t>(dimension)] = tensor.sizes[static_cast<size_t>(dimension)];
    if (has_rank && tensor.dtype == first.dtype && tensor.sizes == wanted) continue;
    return Cat("buffer '", tensor.name, "' is ", tensor.LayoutText(), ", but '", first.name, "' is ",
               first.LayoutText(), ": only dimension ", dimension, " can differ");
  }
  return "";
}

std::vector<double> ConcatenateElements(absl::Span<const std::vector<double>> elements,
                                        absl::Span<const PlanBuffer> tensors, int dimension) {
  size_t rows = 1;  // the number of parts that each tensor has
  for (size_t d = 0; d < static_cast<size_t>(dimension); ++d) rows *= static_cast<size_t>(tensors[0].sizes[d]);
  std::vector<double> all;
  for (size_t row = 0; row < rows; ++row) {
    for (const std::vector<double>& of_tensor : elements) {
      const size_t length = of_tensor.size() / rows;
      const auto begin = of_tensor.begin() + static_cast<std::ptrdiff_t>(row * length);
      all.insert(all.end(), begin, begin + static_cast<std::ptrdiff_t>(length));
    }
  }
  return all;
}

}  // namespace telemetry::worker::wrapper
