#include "worker/tune/search/earlier_results.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace telemetry::worker::tune::search {
namespace {

constexpr double kSameTime = 0.1;        // the relative difference up to which times agree
constexpr double kSlow = 2;              // multiple of the best time, from which more may differ
constexpr double kSameSlowTime = 0.5;    // the same for these
constexpr double kDifferentShare = 0.1;  // of the results, which may differ
constexpr size_t kFewDifferent = 2;

bool IsSame(const std::optional<double>& a, const std::optional<double>& b, double best) {
  if (!a || !b) return !a && !b;
  const double allowed = std::min(*a, *b) > kSlow * best ? kSameSlowTime : kSameTime;
  return std::abs(std::log(*a / *b)) <= std::log1p(allowed);
}

}  // namespace

EarlierResults::EarlierResults(const PointSpace& space, const std::vector<Trial>& trials) {
  for (const Trial& trial : trials) {
    absl::StatusOr<Point> point = space.ToPoint(trial.config);
    if (!point.ok() || !times_ms_.emplace(*point, trial.perf_ms).second) continue;
    points_.push_back(*std::move(point));
    best_ms_ = std::min(best_ms_, trial.perf_ms.value_or(best_ms_));
  }
}

void EarlierResults::Compare(const Outcome& outcome) {
  const auto earlier = times_ms_.find(outcome.point);
  if (earlier == times_ms_.end()) return;
  ++compared_;
  if (!IsSame(earlier->second, outcome.perf_ms, best_ms_)) ++different_;
}

bool EarlierResults::Agree() const {
  const auto share = static_cast<size_t>(kDifferentShare * static_cast<double>(compared_));
  return different_ <= std::max(kFewDifferent, share);
}

}  // namespace telemetry::worker::tune::search
