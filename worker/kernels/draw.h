#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "proto/base/random.h"
#include "worker/device/dtype.h"
#include "worker/kernels/library_kernel.h"
#include "worker/kernels/problem.h"

namespace telemetry::worker::kernels {

// The range of the values of an input. The values come from a seed, by an algorithm that other programs can repeat:
// SplitMix64 (Random) yields one number for each element in memory order, and u is its upper 53 bits divided by 2^53. A
// float is low + (high - low) * u, rounded once to its dtype; an integer is low + floor(u * (high - low)).
struct DrawRange {
  double low = -1;
  double high = 1;
};

// Returns the range of the values of the kernel's tensor argument at this position.
DrawRange ArgumentRange(const LibraryKernel& kernel, size_t argument, const Problem& problem);

// Draws the values of `elements` elements on all cores; advances `random` by one number for each element.
std::vector<double> Draw(device::DType dtype, const DrawRange& range, int64_t elements, Random& random);

// Makes a case with values drawn from a seed. The same seed gives the same values on every platform.
Case MakeCase(const LibraryKernel& kernel, Problem problem, uint64_t seed);

}  // namespace telemetry::worker::kernels
