#include "worker/wrapper/scatter.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "proto/record/strings.h"
#include "worker/ir/host_array.h"

namespace telemetry::worker::wrapper {

using device::DType;
using record::Cat;

namespace {

double Combine(Reduction reduction, double old, double value) {
  switch (reduction) {
    case Reduction::kNone:
      return value;
    case Reduction::kSum:
      return old + value;
    case Reduction::kProduct:
      return old * value;
    case Reduction::kMax:
    case Reduction::kMin:
      if (std::isnan(old) || std::isnan(value)) return std::numeric_limits<double>::quiet_NaN();
      return reduction == Reduction::kMax ? std::max(old, value) : std::min(old, value);
  }
  return value;
}

}  // namespace

std::string WhyNotScattered(const PlanBuffer& target, const PlanBuffer& indices, const PlanBuffer& values,
                            int dimension) {
  const auto is = [](const PlanBuffer& buffer) { return Cat("buffer '", buffer.name, "' is ", buffer.LayoutText()); };
  if (!IsFloat(target.dtype) || target.sizes.empty() || !target.is_dense()) {
    return Cat(is(target), ", but the target has to be dense f32, f16 or bf16 with dimensions");
  }
  if (dimension < 0 || static_cast<size_t>(dimension) >= target.sizes.size()) {
    return Cat(is(target), ", which has no dimension ", dimension);
  }
  if (indices.dtype != DType::kI32 || indices.sizes.size() != target.sizes.size()) {
    return Cat(is(indices), ", but the indices have to be i32 with as many dimensions as the target");
  }
  if (values.dtype != target.dtype || values.sizes != indices.sizes) {
    return Cat(is(values), ", but the values have to be ", ShapeText(target.dtype, indices.sizes));
  }
  for (size_t i = 0; i < target.sizes.size(); ++i) {
    if (i == static_cast<size_t>(dimension) || values.sizes[i] <= target.sizes[i]) continue;
    return Cat(is(values), ", which is larger than the target in dimension ", i);
  }
  return "";
}

void ScatterElements(const ScatterShape& shape, absl::Span<const double> indices, absl::Span<const double> values,
                     Reduction reduction, std::vector<double>* target) {
  const std::vector<int64_t> strides = ir::RowMajorStrides(shape.target);
  const auto dimension = static_cast<size_t>(shape.dimension);
  for (size_t i = 0; i < values.size(); ++i) {
    const double index = indices[i];
    if (index < 0 || index >= static_cast<double>(shape.target[dimension])) continue;
    auto rest = static_cast<int64_t>(i);
    int64_t offset = static_cast<int64_t>(index) * strides[dimension];
    for (size_t d = shape.values.size(); d-- > 0; rest /= shape.values[d]) {
      if (d != dimension) offset += rest % shape.values[d] * strides[d];
    }
    double& element = target->at(static_cast<size_t>(offset));
    element = Combine(reduction, element, values[i]);
  }
}

}  // namespace telemetry::worker::wrapper
