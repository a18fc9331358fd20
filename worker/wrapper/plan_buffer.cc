#include "worker/wrapper/plan_buffer.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/str_join.h"
#include "proto/record/strings.h"
#include "worker/ir/host_array.h"

namespace telemetry::worker::wrapper {

using record::Cat;

int64_t PlanBuffer::span() const {
  int64_t last = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) return 0;
    last += (sizes[i] - 1) * strides[i];
  }
  return last + 1;
}

SizeForm PlanBuffer::ElementForm() const {
  SizeForm elements(1);
  for (size_t i = 0; i < sizes.size(); ++i) elements = elements * FormOf(i);
  return elements;
}

bool PlanBuffer::is_dense() const { return strides == ir::RowMajorStrides(sizes); }

std::string PlanBuffer::LayoutText() const {
  return Cat(ShapeText(dtype, sizes), is_dense() ? "" : Cat(" strides [", absl::StrJoin(strides, ", "), "]"));
}

absl::Status CheckLayout(const PlanBuffer& buffer) {
  constexpr int64_t kMostElements = int64_t{1} << 40;
  const auto refuse = [&](std::string_view why) {
    return absl::InvalidArgumentError(Cat("buffer '", buffer.name, "' with sizes [", absl::StrJoin(buffer.sizes, ", "),
                                          "], strides [", absl::StrJoin(buffer.strides, ", "), "]: ", why));
  };
  if (buffer.sizes.size() != buffer.strides.size())
    return refuse("the number of strides differs from the number of sizes");
  int64_t room = kMostElements;  // the largest size that the next dimension may have
  int64_t reach = kMostElements;
  for (size_t i = 0; i < buffer.sizes.size(); ++i) {
    const int64_t size = buffer.sizes[i];
    const int64_t stride = buffer.strides[i];
    if (size < 0 || stride < 0) return refuse("a size or a stride is negative");
    if (size > room || (size > 1 && stride > reach / (size - 1))) return refuse("more than 2^40 elements");
    room /= std::max<int64_t>(size, 1);
    if (size > 1) reach -= (size - 1) * stride;
  }
  return absl::OkStatus();
}

std::string ShapeText(device::DType dtype, absl::Span<const int64_t> sizes) {
  return Cat(ShortName(dtype), "[", absl::StrJoin(sizes, ", "), "]");
}

}  // namespace telemetry::worker::wrapper
