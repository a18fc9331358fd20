#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "worker/device/dtype.h"
#include "worker/kernels/library.h"
#include "worker/kernels/problem.h"

namespace telemetry::worker::kernels {

// How the values of inputs come from a seed, in few words, for programs that do it themselves: a 64-bit Mersenne
// Twister gives one number for each element of memory; its upper 53 bits, over 2^53, are u. Then floats are
// low + (high - low) * u, rounded once, and integers low + floor(u * (high - low)).
struct DrawRange {
  double low = -1;
  double high = 1;
};

// What the argument at that position of the kernel is drawn from.
DrawRange RangeOf(const LibraryKernel& kernel, size_t argument, const Problem& problem);

std::vector<double> Draw(DType dtype, const DrawRange& range, int64_t elements, std::mt19937_64& random);

}  // namespace telemetry::worker::kernels
