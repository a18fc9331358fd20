#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace telemetry::collector {

// A share in bytes that many hold together; given back in the end. The total outlives it. Not thread-safe, but for the
// total.
class ByteClaim {
 public:
  explicit ByteClaim(std::atomic<uint64_t>& total) : total_(total) {}
  ByteClaim(const ByteClaim&) = delete;
  ByteClaim& operator=(const ByteClaim&) = delete;
  ~ByteClaim() { Release(); }

  // Returns the new total.
  uint64_t Add(uint64_t bytes) {
    bytes_ += bytes;
    return total_ += bytes;
  }
  void Release() { total_ -= std::exchange(bytes_, 0); }
  // Takes over all of another one's share.
  void Take(ByteClaim& other) { bytes_ += std::exchange(other.bytes_, 0); }

 private:
  std::atomic<uint64_t>& total_;
  uint64_t bytes_ = 0;
};

}  // namespace telemetry::collector
