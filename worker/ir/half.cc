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
constexpr int kF16Bias = 15;
constexpr Format kBF16Format = {.fraction_bits = 7, .min_exponent = -126, .max = 0x1.FEp127};

constexpr int kFractionBits = 52;  // of a double
constexpr int kBias = 1023;

// The exponent of a number that is not 0, infinite, NaN or subnormal.
int ExponentOf(double value) {
  return static_cast<int>(std::bit_cast<uint64_t>(value) >> kFractionBits & 0x7FF) - kBias;
}

double PowerOfTwo(int exponent) {
  return std::bit_cast<double>(static_cast<uint64_t>(exponent + kBias) << kFractionBits);
}

double RoundToFormat(const Format& format, double value) {
  const double magnitude = std::abs(value);
  if (!(magnitude < 2 * format.max)) {
    return std::isnan(value) ? value : std::copysign(std::numeric_limits<double>::infinity(), value);
  }
  // Next to this number, doubles have the spacing of the format next to the value. A sum is rounded to nearest even.
  const int exponent = std::max(ExponentOf(magnitude), format.min_exponent);
  const double spaced = 1.5 * PowerOfTwo(exponent - format.fraction_bits + kFractionBits);
  const double rounded = magnitude + spaced - spaced;
  return std::copysign(rounded > format.max ? std::numeric_limits<double>::infinity() : rounded, value);
}

int BitsOf(DType dtype) { return static_cast<int>(8 * SizeOf(dtype)); }

double ToInteger(DType dtype, double value) {
  if (std::isnan(value)) return 0;
  return std::trunc(std::clamp(value, SmallestInteger(dtype), LargestInteger(dtype))) + 0.0;  // no negative zero
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
    case DType::kBool:
      return value != 0 ? 1 : 0;
    default:
      return ToInteger(dtype, value);
  }
}

double SmallestInteger(DType dtype) { return IsUnsigned(dtype) ? 0 : -PowerOfTwo(BitsOf(dtype) - 1); }

double LargestInteger(DType dtype) { return PowerOfTwo(BitsOf(dtype) - (IsUnsigned(dtype) ? 0 : 1)) - 1; }

uint64_t IntegerBits(DType dtype, double value) {
  constexpr double kTooLarge = 0x1p63;
  // The largest doubles are rounded up to values that the dtype cannot hold. A negative number wraps.
  if (IsUnsigned(dtype) && value >= 0) return value >= 2 * kTooLarge ? ~uint64_t{0} : static_cast<uint64_t>(value);
  const int64_t largest = std::numeric_limits<int64_t>::max();
  return static_cast<uint64_t>(value >= kTooLarge ? largest : static_cast<int64_t>(value));
}

double Wrap(DType dtype, uint64_t bits) {
  const int unused = 64 - BitsOf(dtype);
  if (IsUnsigned(dtype)) return static_cast<double>(bits << unused >> unused);
  return static_cast<double>(static_cast<int64_t>(bits << unused) >> unused);
}

double ConvertTo(DType dtype, DType from, double value) {
  if (IsInteger(dtype) && IsInteger(from)) return Wrap(dtype, IntegerBits(from, value));
  return RoundTo(dtype, value);
}

uint16_t EncodeF16(double value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return sign | 0x7E00;
  const double magnitude = std::abs(RoundTo(DType::kF16, value));
  if (std::isinf(magnitude)) return sign | 0x7C00;
  // A subnormal number is a multiple of 2^-24.
  if (magnitude < 0x1p-14) return static_cast<uint16_t>(sign | static_cast<int>(magnitude * 0x1p24));
  constexpr int kShift = kFractionBits - kF16Format.fraction_bits;
  constexpr uint64_t kBiases = static_cast<uint64_t>(kBias - kF16Bias) << kF16Format.fraction_bits;
  return static_cast<uint16_t>(sign | ((std::bit_cast<uint64_t>(magnitude) >> kShift) - kBiases));
}

double DecodeF16(uint16_t bits) {
  const int field = (bits >> 10) & 0x1F;
  const int fraction = bits & 0x3FF;
  double magnitude = 0;
  if (field == 0x1F) {
    magnitude = fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  } else if (field == 0) {
    magnitude = fraction * 0x1p-24;
  } else {
    magnitude = (fraction + 1024) * PowerOfTwo(field - 25);
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
