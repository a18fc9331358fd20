#pragma once

#include <cstdint>

#include "worker/device/dtype.h"

namespace telemetry::worker::ir {

// The narrow float formats on the host. Values are rounded from double to nearest even in one step. A value beyond the
// largest finite value becomes infinity, as in the conversions of the hardware. Pure functions.

// Returns the nearest value that the dtype can hold. f32, f16 and bf16 round. Integers truncate towards zero and
// saturate; NaN becomes 0. bool is 0 for 0 and 1 for all other values. Integers of 64 bits beyond 2^53 are the nearest
// double.
double RoundTo(device::DType dtype, double value);

// Returns the value of an integer dtype with the low bits of `bits`: sums, differences and products wrap.
double Wrap(device::DType dtype, uint64_t bits);

// Converts a value of dtype `from` to another dtype: integers wrap to narrower integers, all other values are rounded.
double ConvertTo(device::DType dtype, device::DType from, double value);

// Returns the smallest and the largest value of an integer dtype; the largest of 64 bits is the nearest double.
double SmallestInteger(device::DType dtype);
double LargestInteger(device::DType dtype);

// Returns the 64 bits of an integer value, sign-extended. The value is one that RoundTo returned, or a number from
// -2^63 on that is below the dtype's range.
uint64_t IntegerBits(device::DType dtype, double value);

uint16_t EncodeF16(double value);
double DecodeF16(uint16_t bits);
uint16_t EncodeBF16(double value);
double DecodeBF16(uint16_t bits);

}  // namespace telemetry::worker::ir
