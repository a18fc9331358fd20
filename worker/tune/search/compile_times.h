#pragma once

#include <Eigen/Dense>
#include <optional>
#include <vector>

#include "worker/codegen/code_size.h"

namespace telemetry::worker::tune::search {

// A linear regression of the logarithms of compile times over those of code sizes. Decides which configs are not worth
// the time of their compiler. A prior for the slopes lets it begin with a few times.
//
// In 78 searches of matmul, bmm, attention and softmax on H200s with 200 configs each, half of them with earlier forms
// of this class, the configs that it leaves out took 18% of the compilers' time. They include 435 of the 745 whose
// compilers were ended, and 9 of the 3,106 whose code was within a tenth of the fastest.
class CompileTimes {
 public:
  static constexpr size_t kLeastTimes = 16;
  static constexpr double kLongest = 1.75;       // of the median
  static constexpr double kLongestOfBest = 1.1;  // of the time that is expected of the fastest config

  // Adds the time of a compiler, also of one that was ended before.
  void Add(const codegen::CodeSize& size, double seconds);
  // Sets the size of the fastest config's code.
  void SetBest(const codegen::CodeSize& size) { best_ = InputOf(size); }
  // Returns true if code of this size is expected to compile for so long that its config is not worth a trial. Always
  // false before kLeastTimes times and the fastest config are known.
  bool IsTooLong(const codegen::CodeSize& size);

 private:
  using Input = Eigen::Vector3d;  // the logarithms of the numbers in CodeSize

  static Input InputOf(const codegen::CodeSize& size);
  void Fit();
  // Returns the expected logarithm of the seconds.
  double Expected(const Input& input) const;

  std::vector<Input> inputs_;
  std::vector<double> log_seconds_;
  size_t fitted_ = 0;  // times in the next members
  std::optional<Input> best_;
  Input slopes_ = Input::Zero();
  Input means_ = Input::Zero();
  double mean_log_seconds_ = 0;
  double median_ = 0;  // of log_seconds_
};

}  // namespace telemetry::worker::tune::search
