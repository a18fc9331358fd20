#pragma once

#include <cstdint>
#include <vector>

#include "worker/wrapper/lines.h"

namespace telemetry::worker::wrapper {

// The places of a plan's buffers in one block of memory.
struct MemoryLayout {
  int64_t bytes = 0;             // of the block
  std::vector<int64_t> offsets;  // by buffer, in bytes, multiples of device::kViewAlignment; -1: not in the block
};

// Lays out the memory that a plan allocates and that ends with it: not inputs, not outputs and the memory that becomes
// an output, not memory without elements. Buffers that exist at the same line do not overlap. The block is at least as
// large as the peak of these buffers; it is larger where buffers of different sizes leave gaps. The plan must be
// verified.
MemoryLayout LayOutMemory(const Plan& plan);

}  // namespace telemetry::worker::wrapper
