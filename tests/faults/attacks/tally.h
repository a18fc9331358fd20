#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace telemetry::faults {

// A counter in a file. One process increments it, and another one can read it even after the first was killed.
// Thread-safe.
class Tally {
 public:
  // Opens the file, and creates it with 0 if it does not exist. Ends the program if that fails.
  explicit Tally(const std::string& path);
  ~Tally();
  Tally(const Tally&) = delete;
  Tally& operator=(const Tally&) = delete;

  void Add(uint64_t count = 1) { *count_ += count; }
  uint64_t value() const { return *count_; }

 private:
  std::atomic<uint64_t>* count_;
};

}  // namespace telemetry::faults
