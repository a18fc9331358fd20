#pragma once

#include <cstddef>

#include "absl/functional/function_ref.h"

namespace telemetry {

// A part for loops that take a few nanoseconds for each of many elements: about a millisecond.
inline constexpr size_t kElementsPerPart = size_t{1} << 18;

// Calls work(begin, end) for consecutive parts of [0, size) that begin at multiples of `part`, on up to one thread per
// processor, and returns when all calls have returned. The caller's thread takes parts, too. The first call with
// several parts starts the other threads, which never end. Thread-safe, and `work` may call it. `work` must not throw.
// A child of fork() must not call it before exec.
void ForEachPart(size_t size, size_t part, absl::FunctionRef<void(size_t begin, size_t end)> work);

}  // namespace telemetry
