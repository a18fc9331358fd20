#pragma once

#include <cstdint>

#include "worker/device/dtype.h"

namespace telemetry::worker::ir {

// The narrow float formats on the host. Values are rounded from double to nearest even in one step. A value beyond the
// largest finite value becomes infinity, as in the conversions of the hardware. Pure functions.

// Returns the nearest value that the dtype can hold. f32, f16 and bf16 round. i32 truncates towards zero and saturates;
// NaN becomes 0. bool is 0 for 0 and 1 for all other values.
double RoundTo(device::DType dtype, double value);

// Returns the low 32 bits of a sum, difference or product of i32 values.
double WrapInt32(int64_t value);

uint16_t EncodeF16(double value);
double DecodeF16(uint16_t bits);
uint16_t EncodeBF16(double value);
double DecodeBF16(uint16_t bits);

}  // namespace telemetry::worker::ir
