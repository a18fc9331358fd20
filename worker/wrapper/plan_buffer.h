#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "worker/device/dtype.h"
#include "worker/wrapper/size_form.h"

namespace telemetry::worker::wrapper {

// The layout of a buffer in memory. A view has its own layout over the memory of its base.
struct PlanBuffer {
  std::string name;  // unique in the plan
  device::DType dtype = device::DType::kF32;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;  // in elements, not negative
  // The sizes for all values of the symbols of the plan, by dimension. Empty: always those of `sizes`.
  std::vector<SizeForm> forms = {};

  SizeForm FormOf(size_t dimension) const { return forms.empty() ? SizeForm(sizes[dimension]) : forms[dimension]; }
  // Returns the number of elements of a dense buffer for all values of the symbols.
  SizeForm ElementForm() const;
  // Returns the number of elements that the memory must have: one beyond the offset of the last element, or 0 if there
  // is none.
  int64_t span() const;
  int64_t bytes() const { return span() * static_cast<int64_t>(SizeOf(dtype)); }
  bool is_dense() const;
  // Returns "f16[2, 64]", with the strides if the buffer is not dense.
  std::string LayoutText() const;
};

// Checks that there are as many strides as sizes, that none is negative, and that there are at most 2^40 elements,
// including gaps. INVALID_ARGUMENT names the buffer.
absl::Status CheckLayout(const PlanBuffer& buffer);

// Returns dtype and sizes as text: "f16[2, 64]".
std::string ShapeText(device::DType dtype, absl::Span<const int64_t> sizes);

}  // namespace telemetry::worker::wrapper
