#pragma once

#include <array>
#include <optional>
#include <vector>

#include "worker/codegen/code_size.h"

namespace telemetry::worker::tune::search {

// Expects from the size of a config's code how long it compiles, and decides which configs are not worth that time. A
// linear regression of the logarithms, with a prior for its slopes, so that a few times are enough.
//
// In 46 searches of matmul, bmm, attention and softmax on H200s with 200 configs each, the configs that this leaves out
// took a fifth of the compilers' time. They were 294 of the 451 whose compilers were ended, and 7 of the 1,834 whose
// code was within a tenth of the fastest.
class CompileTimes {
 public:
  static constexpr size_t kLeastTimes = 8;
  static constexpr double kLongest = 1.75;        // of the median
  static constexpr double kLongestOfBest = 1.25;  // of the time that is expected of the fastest config

  // Adds the time of a compiler, also of one that was ended before.
  void Add(const codegen::CodeSize& size, double seconds);
  // Sets the size of the fastest config's code.
  void SetBest(const codegen::CodeSize& size) { best_ = InputOf(size); }
  // Returns true if code of this size is expected to compile for so long that its config is not worth a trial. Always
  // false before kLeastTimes times are known.
  bool IsTooLong(const codegen::CodeSize& size) const;

 private:
  using Input = std::array<double, 3>;  // the logarithms of the numbers in CodeSize

  static Input InputOf(const codegen::CodeSize& size);
  void Fit();
  // Returns the expected logarithm of the seconds.
  double Expected(const Input& input) const;

  std::vector<Input> inputs_;
  std::vector<double> log_seconds_;
  std::optional<Input> best_;
  Input slopes_ = {};
  Input means_ = {};
  double mean_log_seconds_ = 0;
  double median_ = 0;  // of log_seconds_
};

}  // namespace telemetry::worker::tune::search
