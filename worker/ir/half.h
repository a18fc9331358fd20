#pragma once

#include <cstdint>

#include "worker/device/dtype.h"

namespace telemetry::worker::ir {

// The narrow float formats on the host. Rounding is to nearest even, from double in one step; beyond the largest finite
// value comes infinity, as the hardware's conversions do. Pure functions.

// The nearest value that the dtype can hold: f32, f16, bf16 round, i32 truncates towards zero and saturates (NaN: 0),
// bool is 1 unless 0.
double RoundTo(DType dtype, double value);

// A sum, difference or product of i32 values, as the 32 bits that remain of it.
double WrapInt32(int64_t value);

uint16_t EncodeF16(double value);
double DecodeF16(uint16_t bits);
uint16_t EncodeBF16(double value);
double DecodeBF16(uint16_t bits);

}  // namespace telemetry::worker::ir
