#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace telemetry::worker::ir {

// A generator of random numbers that are the same for a seed on every platform. The distributions of the standard
// library are not.
class Rng {
 public:
  explicit Rng(uint64_t seed) : engine_(seed) {}

  // Returns a number in [0, bound).
  int64_t Below(int64_t bound) { return static_cast<int64_t>(engine_() % static_cast<uint64_t>(bound)); }
  int64_t Between(int64_t low, int64_t high) { return low + Below(high - low + 1); }
  double Real(double low, double high) {
    constexpr double kScale = 1.0 / (uint64_t{1} << 53);
    return low + (high - low) * static_cast<double>(engine_() >> 11) * kScale;
  }
  bool OneIn(int64_t n) { return Below(n) == 0; }
  template <typename T>
  const T& Pick(const std::vector<T>& from) {
    return from[static_cast<size_t>(Below(static_cast<int64_t>(from.size())))];
  }
  template <typename T>
  void Shuffle(std::vector<T>* items) {
    for (size_t i = items->size(); i > 1; --i)
      std::swap((*items)[i - 1], (*items)[static_cast<size_t>(Below(static_cast<int64_t>(i)))]);
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace telemetry::worker::ir
