#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "worker/device/dtype.h"

namespace telemetry::worker::wrapper {

// How the elements of a buffer lie. A view has its own layout over its base's memory.
struct PlanBuffer {
  std::string name;  // unique in the plan
  DType dtype = DType::kF32;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;  // in elements, not negative

  // The elements that memory must have: one beyond the offset of the last; 0 where there is none.
  int64_t span() const;
  int64_t bytes() const { return span() * static_cast<int64_t>(SizeOf(dtype)); }
  bool is_dense() const;
  // "f16[2, 64]", with the strides where it is not dense.
  std::string LayoutText() const;
};

// Sizes and strides of one number, none negative, at most 2^40 elements, gaps included. INVALID_ARGUMENT names the
// buffer.
absl::Status CheckLayout(const PlanBuffer& buffer);

// "f16[2, 64]".
std::string ShapeText(DType dtype, absl::Span<const int64_t> sizes);

}  // namespace telemetry::worker::wrapper
