#pragma once

#include <cstdint>
#include <string>

#include "worker/device/device.h"
#include "worker/device/dtype.h"

namespace telemetry::worker::device {

// Returns macros that let one source of the worker's own kernels compile in both dialects: KERNEL, GLOBAL, LOCAL, i64,
// uint, FIRST and STEP (the number of this thread and the number of threads in a launch), EACH(i, begin, end) (a loop
// over this thread's elements, in ascending order, where all threads together have those from `begin` to before `end`),
// BLOCK and THREAD (the indices of this block and thread), BARRIER, ADD and MAX (atomic), FLOAT_OF and BITS_OF.
std::string KernelWords(Dialect dialect);

// Returns functions, written with these macros, that read element `i` of a tensor in memory. dtypes are numbered as in
// DType.
//   uint float_bits(memory, dtype, i)  of a float, converted to the bits of an f32
//   int integer(memory, dtype, i)      of an integer or bool, see NarrowedInteger(); a bool is the number in its byte
//   uint is_nan(bits), uint is_infinite(bits)
std::string ElementWords();

// Returns the number that integer() returns for an integer of this value: the value if an i32 can hold it, the bits of
// a larger u32, and a hash of other integers of 64 bits. Different values of one dtype have different numbers, except
// for rare collisions of hashes.
int32_t NarrowedInteger(DType dtype, double value);

}  // namespace telemetry::worker::device
