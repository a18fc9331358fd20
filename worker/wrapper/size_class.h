#pragma once

#include <cstdint>

namespace telemetry::worker::wrapper {

// Returns the number of bytes that are allocated for a request: the next multiple of 512 up to 4 KiB, and above that
// the next of four equal steps per doubling (5, 6, 7, 8 KiB, 10, 12, ...). For requests of more than 2 KiB less than a
// fifth of the allocation is unused. Buffers of one class fit into the memory of each other. 0 is a class of its own;
// negative values count as 0. `bytes` must be at most 2^60.
int64_t SizeClass(int64_t bytes);

}  // namespace telemetry::worker::wrapper
