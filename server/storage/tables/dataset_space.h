#pragma once

#include <cstdint>

#include "absl/status/statusor.h"

namespace telemetry::storage::tables {

// The disk space of a dataset during one pass of the Pruner. Not thread-safe.
class DatasetSpace {
 public:
  virtual ~DatasetSpace() = default;

  // Returns the bytes that are in use. New rows reuse all others.
  virtual absl::StatusOr<int64_t> UsedBytes() = 0;
  // Returns the part of the used bytes that rejects and the cache occupy. `estimate` is the size of their contents.
  virtual int64_t UncountedBytes(int64_t estimate) const = 0;
  // Returns the average number of bytes that become free with each row of an attempt that is removed. `counted_bytes`
  // are the used bytes without those of rejects and of the cache.
  virtual absl::StatusOr<double> RowBytes(int64_t counted_bytes) = 0;
};

}  // namespace telemetry::storage::tables
