#pragma once

#include <string>

#include "worker/device/device.h"

namespace telemetry::worker {

// What the worker's own kernels are written in, so that one text does for both dialects: KERNEL, GLOBAL, LOCAL, i64,
// uint, FIRST and STEP (to walk over elements with all threads of a launch), BLOCK and THREAD (this one's numbers),
// BARRIER, ADD and MAX (atomic), FLOAT_OF and BITS_OF.
std::string KernelWords(Dialect dialect);

// Functions in these words that read element `i` of a tensor in memory. dtypes are numbered as in DType.
//   uint float_bits(memory, dtype, i)  of a float, as f32's
//   int integer(memory, dtype, i)      of an i32 or bool; of a bool what its byte holds
//   uint is_nan(bits), uint is_infinite(bits)
std::string ElementWords();

}  // namespace telemetry::worker
