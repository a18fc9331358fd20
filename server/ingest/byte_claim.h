#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace telemetry::ingest {

// One holder's part of a byte count that several holders share. The destructor releases it. `total` must outlive the
// claim. Not thread-safe, except for `total`.
class ByteClaim {
 public:
  explicit ByteClaim(std::atomic<uint64_t>& total) : total_(total) {}
  ByteClaim(const ByteClaim&) = delete;
  ByteClaim& operator=(const ByteClaim&) = delete;
  ~ByteClaim() { Release(); }

  // Adds bytes to the claim and returns the new total.
  uint64_t Add(uint64_t bytes) {
    bytes_ += bytes;
    return total_ += bytes;
  }
  void Release() { total_ -= std::exchange(bytes_, 0); }
  // Moves all bytes of `other` to this claim.
  void Take(ByteClaim& other) { bytes_ += std::exchange(other.bytes_, 0); }

 private:
  std::atomic<uint64_t>& total_;
  uint64_t bytes_ = 0;
};

}  // namespace telemetry::ingest
