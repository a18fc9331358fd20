#include "worker/wrapper/index_put.h"

#include "proto/record/strings.h"

namespace telemetry::worker::wrapper {

using device::DType;
using record::Cat;

std::string WhyNotIndexed(const PlanBuffer& target, const PlanBuffer& indices, const PlanBuffer& values) {
  const auto is = [](const PlanBuffer& buffer) { return Cat("buffer '", buffer.name, "' is ", buffer.LayoutText()); };
  if (!IsFloat(target.dtype) || target.sizes.empty() || !target.is_dense()) {
    return Cat(is(target), ", but the target has to be dense f32, f16 or bf16 with rows");
  }
  if (indices.dtype != DType::kI32 || indices.sizes.size() != 1) {
    return Cat(is(indices), ", but the indices have to be i32 with one dimension");
  }
  std::vector<int64_t> wanted = target.sizes;
  wanted[0] = indices.sizes[0];
  if (values.dtype == target.dtype && values.sizes == wanted) return "";
  return Cat(is(values), ", but the values have to be ", ShapeText(target.dtype, wanted));
}

void PutRows(absl::Span<const double> indices, absl::Span<const double> values, bool accumulate, int64_t target_rows,
             std::vector<double>* target) {
  const size_t columns = indices.empty() ? 0 : values.size() / indices.size();
  for (size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] < 0 || indices[i] >= static_cast<double>(target_rows)) continue;
    const size_t row = static_cast<size_t>(indices[i]) * columns;
    for (size_t j = 0; j < columns; ++j) {
      double& element = target->at(row + j);
      const double value = values[i * columns + j];
      element = accumulate ? element + value : value;
    }
  }
}

}  // namespace telemetry::worker::wrapper
