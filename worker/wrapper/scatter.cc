#include "worker/wrapper/scatter.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "proto/record/strings.h"
#include "worker/ir/half.h"
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
    case Reduction::kMean:  // divided at the end
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

std::string WhyNotScattered(const PlanBuffer& target, const PlanBuffer& indices, const PlanBuffer* values,
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
  if (values != nullptr && (values->dtype != target.dtype || values->sizes != indices.sizes)) {
    return Cat(is(*values), ", but the values have to be ", ShapeText(target.dtype, indices.sizes));
  }
  for (size_t i = 0; i < target.sizes.size(); ++i) {
    if (i == static_cast<size_t>(dimension) || indices.sizes[i] <= target.sizes[i]) continue;
    return Cat(is(indices), ", which is larger than the target in dimension ", i);
  }
  return "";
}

std::string WhyNotNumber(const PlanBuffer& target, double number) {
  if (std::isfinite(number) && ir::RoundTo(target.dtype, number) == number) return "";
  return Cat("the number ", number, " is no finite ", ShortName(target.dtype));
}

void ScatterElements(const ScatterShape& shape, absl::Span<const double> indices, absl::Span<const double> values,
                     Reduction reduction, std::vector<double>* target) {
  const std::vector<int64_t> strides = ir::RowMajorStrides(shape.target);
  const auto dimension = static_cast<size_t>(shape.dimension);
  std::vector<int64_t> counts(reduction == Reduction::kMean ? target->size() : 0);  // of the values of each element
  for (size_t i = 0; i < values.size(); ++i) {
    const double index = indices[i];
    if (index < 0 || index >= static_cast<double>(shape.target[dimension])) continue;
    auto rest = static_cast<int64_t>(i);
    int64_t offset = static_cast<int64_t>(index) * strides[dimension];
    for (size_t d = shape.indices.size(); d-- > 0; rest /= shape.indices[d]) {
      if (d != dimension) offset += rest % shape.indices[d] * strides[d];
    }
    double& element = target->at(static_cast<size_t>(offset));
    element = Combine(reduction, element, values[i]);
    if (!counts.empty()) ++counts[static_cast<size_t>(offset)];
  }
  for (size_t i = 0; i < counts.size(); ++i) (*target)[i] /= static_cast<double>(counts[i] + 1);
}

}  // namespace telemetry::worker::wrapper
