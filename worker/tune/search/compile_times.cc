#include "worker/tune/search/compile_times.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

#include "proto/statistics/samples.h"
#include "worker/tune/search/cholesky.h"

namespace telemetry::worker::tune::search {
namespace {

// The slopes that are expected before there are times. Those of searches of four kernels were 0.2 to 0.5 for
// characters, 0.1 to 0.4 for elements and -0.1 to 0.1 for wgmmas.
constexpr std::array<double, 3> kSlopes = {0.4, 0.2, -0.05};
constexpr double kDeviationOfSlopes = 0.2;  // from the expected ones
constexpr double kDeviationOfTimes = 0.4;   // of the logarithm of a time from that of the regression

}  // namespace

CompileTimes::Input CompileTimes::InputOf(const codegen::CodeSize& size) {
  return {std::log(size.characters), std::log(size.elements), std::log(size.wgmmas)};
}

void CompileTimes::Add(const codegen::CodeSize& size, double seconds) {
  inputs_.push_back(InputOf(size));
  log_seconds_.push_back(std::log(seconds));
}

// Minimises the squared errors plus the squared distances of the slopes from the expected ones, each divided by its
// variance.
void CompileTimes::Fit() {
  const auto count = static_cast<double>(inputs_.size());
  means_ = {};
  for (const Input& input : inputs_) {
    for (size_t i = 0; i < input.size(); ++i) means_[i] += input[i] / count;
  }
  mean_log_seconds_ = std::accumulate(log_seconds_.begin(), log_seconds_.end(), 0.0) / count;
  const double weight = std::pow(kDeviationOfTimes / kDeviationOfSlopes, 2);
  LowerTriangle matrix(kSlopes.size());
  std::vector<double> right(kSlopes.size());
  for (size_t i = 0; i < kSlopes.size(); ++i) {
    matrix.row(i)[i] = weight;
    right[i] = weight * kSlopes[i];
    for (size_t k = 0; k < inputs_.size(); ++k) {
      const double centred = inputs_[k][i] - means_[i];
      right[i] += centred * (log_seconds_[k] - mean_log_seconds_);
      for (size_t j = 0; j <= i; ++j) matrix.row(i)[j] += centred * (inputs_[k][j] - means_[j]);
    }
  }
  Factorize(&matrix);
  const std::vector<double> slopes = SolveUpper(matrix, SolveLower(matrix, std::move(right)));
  std::copy(slopes.begin(), slopes.end(), slopes_.begin());
  median_ = statistics::QuantilesOf(log_seconds_)->median;
  fitted_ = inputs_.size();
}

double CompileTimes::Expected(const Input& input) const {
  double expected = mean_log_seconds_;
  for (size_t i = 0; i < input.size(); ++i) expected += slopes_[i] * (input[i] - means_[i]);
  return expected;
}

bool CompileTimes::IsTooLong(const codegen::CodeSize& size) {
  if (inputs_.size() < kLeastTimes || !best_) return false;
  if (fitted_ < inputs_.size()) Fit();
  const double longest = std::max(median_ + std::log(kLongest), Expected(*best_) + std::log(kLongestOfBest));
  return Expected(InputOf(size)) > longest;
}

}  // namespace telemetry::worker::tune::search
