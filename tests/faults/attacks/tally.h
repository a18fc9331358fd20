#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace telemetry::faults {

// A number in a file, which one process counts up and another reads, even after the first was killed. Thread-safe.
class Tally {
 public:
  // Opens the file, which is made with 0 when it is not there. Ends the program when that fails.
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
