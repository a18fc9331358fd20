#include "worker/ir/half.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace telemetry::worker::ir {
namespace {

using device::DType;

// A binary floating-point format narrower than double.
struct Format {
  int fraction_bits;
  int min_exponent;  // of the normal numbers; subnormals have the same spacing
  double max;
};
constexpr Format kF16Format = {.fraction_bits = 10, .min_exponent = -14, .max = 65504};
constexpr Format kBF16Format = {.fraction_bits = 7, .min_exponent = -126, .max = 0x1.FEp127};

double RoundToFormat(const Format& format, double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const int exponent = std::max(std::ilogb(value), format.min_exponent);
  const int shift = format.fraction_bits - exponent;
  // std::rint rounds to nearest even. Both scalings are exact.
  const double rounded = std::ldexp(std::rint(std::ldexp(value, shift)), -shift);
  return std::abs(rounded) > format.max ? std::copysign(std::numeric_limits<double>::infinity(), value) : rounded;
}

double ToInt32(double value) {
  if (std::isnan(value)) return 0;
  constexpr double kMin = std::numeric_limits<int32_t>::min();
  constexpr double kMax = std::numeric_limits<int32_t>::max();
  return std::trunc(std::clamp(value, kMin, kMax)) + 0.0;  // no negative zero
}

}  // namespace

double RoundTo(DType dtype, double value) {
  switch (dtype) {
    case DType::kF32:
      return static_cast<float>(value);
    case DType::kF16:
      return RoundToFormat(kF16Format, value);
    case DType::kBF16:
      return RoundToFormat(kBF16Format, value);
    case DType::kI32:
      return ToInt32(value);
    case DType::kBool:
      return value != 0 ? 1 : 0;
  }
  return value;
}

double WrapInt32(int64_t value) { return static_cast<int32_t>(static_cast<uint32_t>(value)); }

uint16_t EncodeF16(double value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return sign | 0x7E00;
  const double magnitude = std::abs(RoundTo(DType::kF16, value));
  if (std::isinf(magnitude)) return sign | 0x7C00;
  if (magnitude == 0) return sign;
  const int exponent = std::max(std::ilogb(magnitude), kF16Format.min_exponent);
  // The leading one of a normal number is bit 10, where it increments the exponent field.
  const auto significand = static_cast<int>(std::ldexp(magnitude, kF16Format.fraction_bits - exponent));
  const int field = (exponent - kF16Format.min_exponent) << kF16Format.fraction_bits;
  return static_cast<uint16_t>(sign | (field + significand));
}

double DecodeF16(uint16_t bits) {
  const int field = (bits >> 10) & 0x1F;
  const int fraction = bits & 0x3FF;
  double magnitude = 0;
  if (field == 0x1F) {
    magnitude = fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  } else if (field == 0) {
    magnitude = std::ldexp(fraction, -24);
  } else {
    magnitude = std::ldexp(fraction + 1024, field - 25);
  }
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

uint16_t EncodeBF16(double value) {
  if (std::isnan(value)) return std::signbit(value) ? 0xFFC0 : 0x7FC0;
  const auto rounded = static_cast<float>(RoundTo(DType::kBF16, value));
  return static_cast<uint16_t>(std::bit_cast<uint32_t>(rounded) >> 16);
}

double DecodeBF16(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

}  // namespace telemetry::worker::ir
