#pragma once

#include <string>

#include "worker/device/device.h"

namespace telemetry::worker::device {

// Returns macros that let one source of the worker's own kernels compile in both dialects: KERNEL, GLOBAL, LOCAL, i64,
// uint, FIRST and STEP (the number of this thread and the number of threads in a launch), EACH(i, begin, end) (a loop
// over this thread's elements, in ascending order, where all threads together have those from `begin` to before `end`),
// BLOCK and THREAD (the indices of this block and thread), BARRIER, ADD and MAX (atomic), FLOAT_OF and BITS_OF.
std::string KernelWords(Dialect dialect);

// Returns functions, written with these macros, that read element `i` of a tensor in memory. dtypes are numbered as in
// DType.
//   uint float_bits(memory, dtype, i)  of a float, converted to the bits of an f32
//   int integer(memory, dtype, i)      of an i32 or bool; a bool is the number in its byte
//   uint is_nan(bits), uint is_infinite(bits)
std::string ElementWords();

}  // namespace telemetry::worker::device
