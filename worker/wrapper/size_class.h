#pragma once

#include <cstdint>

namespace telemetry::worker::wrapper {

// What is allocated for so many bytes: the next multiple of 512 up to 4 KiB, from there the next of four equal steps
// per doubling (5, 6, 7, 8 KiB, 10, 12, ...), so that of more than 2 KiB less than a fifth is not asked for. Buffers of
// one class fit into each other's memory. 0 is a class of its own; what is negative counts as 0. `bytes` is at most
// 2^60.
int64_t SizeClass(int64_t bytes);

}  // namespace telemetry::worker::wrapper
