#include "worker/kernels/tolerance.h"

#include <cmath>

namespace telemetry::worker::kernels {

using device::DType;

ir::Tolerance Rounded(DType dtype, double absolute) {
  switch (dtype) {
    case DType::kF32:
      return {.absolute = absolute, .relative = 1e-5};
    case DType::kF16:
      return {.absolute = absolute, .relative = std::ldexp(1, -10)};
    case DType::kBF16:
      return {.absolute = absolute, .relative = std::ldexp(1, -7)};
    default:
      break;
  }
  return {};
}

ir::Tolerance Summed(DType dtype, double terms) { return Rounded(dtype, 1e-6 + std::ldexp(terms, -23)); }

}  // namespace telemetry::worker::kernels
