#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace telemetry {

// A SplitMix64 generator (Steele, Lea and Flood: Fast Splittable Pseudorandom Number Generators, 2014). All methods
// derive their results from its 64-bit outputs with integer arithmetic and exact doubles, so that a seed gives the same
// numbers on every platform. The distributions of the standard library do not guarantee this.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t Next() {
    state_ += kStep;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }

  // Has the effect of `count` calls of Next, without their results.
  void Skip(uint64_t count) { state_ += count * kStep; }

  // Returns 0 <= result < bound; `bound` must be positive. The bias of the remainder is below bound / 2^64.
  int64_t Below(int64_t bound) { return static_cast<int64_t>(Next() % static_cast<uint64_t>(bound)); }
  size_t Index(size_t size) { return static_cast<size_t>(Next() % size); }
  // Returns 0 <= result < 1, a multiple of 2^-53.
  double Real() { return static_cast<double>(Next() >> 11) * 0x1p-53; }
  bool Chance(double probability) { return Real() < probability; }

  template <typename T>
  void Shuffle(std::vector<T>* items) {
    for (size_t i = items->size(); i > 1; --i) std::swap((*items)[i - 1], (*items)[Index(i)]);
  }

 private:
  static constexpr uint64_t kStep = 0x9E3779B97F4A7C15;

  uint64_t state_;
};

}  // namespace telemetry
