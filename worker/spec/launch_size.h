#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/spec/specification.h"

namespace telemetry::worker::spec {

// The shape of a launch: x, y, z.
struct LaunchSize {
  std::array<int64_t, 3> grid = {1, 1, 1};     // blocks
  std::array<int64_t, 3> threads = {1, 1, 1};  // of a block
  int64_t shared_bytes = 0;                    // dynamic shared memory

  int64_t threads_per_block() const { return threads[0] * threads[1] * threads[2]; }
};

// The limits of a device. 0: not known.
struct LaunchLimits {
  std::array<int64_t, 3> grid = {0, 0, 0};     // blocks in x, y, z
  std::array<int64_t, 3> threads = {0, 0, 0};  // of a block, in x, y, z
  int64_t threads_per_block = 0;
  int64_t shared_bytes = 0;
};

// Evaluates the shape for a config's values (Specification::ValuesAt). INVALID_ARGUMENT: an expression cannot be
// evaluated, a size is not positive or exceeds 2^31 - 1 blocks, or OpenCL's global size is not a multiple of the local
// size.
absl::StatusOr<LaunchSize> LaunchSizeOf(const LaunchExpressions& launch, absl::Span<const Value> values);

// Returns RESOURCE_EXHAUSTED if the launch exceeds a limit; the message has both numbers.
absl::Status CheckLimits(const LaunchSize& size, const LaunchLimits& limits);

}  // namespace telemetry::worker::spec
