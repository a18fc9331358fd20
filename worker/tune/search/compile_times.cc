#include "worker/tune/search/compile_times.h"

#include <algorithm>
#include <cmath>

#include "proto/statistics/samples.h"

namespace telemetry::worker::tune::search {
namespace {

// The slopes that are expected before there are times. Those of searches of four kernels were 0.2 to 0.5 for
// characters, 0.1 to 0.4 for elements and -0.1 to 0.1 for wgmmas.
const Eigen::Vector3d kSlopes(0.4, 0.2, -0.05);
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
  const auto count = static_cast<Eigen::Index>(inputs_.size());
  const Eigen::Map<const Eigen::Matrix3Xd> inputs(inputs_.front().data(), 3, count);
  const Eigen::Map<const Eigen::VectorXd> times(log_seconds_.data(), count);
  means_ = inputs.rowwise().mean();
  mean_log_seconds_ = times.mean();
  const Eigen::Matrix3Xd centred = inputs.colwise() - means_;
  const double weight = std::pow(kDeviationOfTimes / kDeviationOfSlopes, 2);
  const Eigen::Matrix3d matrix = centred * centred.transpose() + weight * Eigen::Matrix3d::Identity();
  slopes_ = matrix.llt().solve(centred * (times.array() - mean_log_seconds_).matrix() + weight * kSlopes);
  median_ = statistics::QuantilesOf(log_seconds_)->median;
  fitted_ = inputs_.size();
}

double CompileTimes::Expected(const Input& input) const { return mean_log_seconds_ + slopes_.dot(input - means_); }

bool CompileTimes::IsTooLong(const codegen::CodeSize& size) {
  if (inputs_.size() < kLeastTimes || !best_) return false;
  if (fitted_ < inputs_.size()) Fit();
  const double longest = std::max(median_ + std::log(kLongest), Expected(*best_) + std::log(kLongestOfBest));
  return Expected(InputOf(size)) > longest;
}

}  // namespace telemetry::worker::tune::search
