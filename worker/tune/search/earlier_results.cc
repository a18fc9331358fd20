#include "worker/tune/search/earlier_results.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace telemetry::worker::tune::search {
namespace {

constexpr double kSameTime = 0.1;        // the relative difference up to which times agree
constexpr double kDifferentShare = 0.1;  // of the results, which may differ
constexpr size_t kFewDifferent = 2;

bool IsSame(const std::optional<double>& a, const std::optional<double>& b) {
  if (!a || !b) return !a && !b;
  return std::abs(std::log(*a / *b)) <= std::log1p(kSameTime);
}

}  // namespace

EarlierResults::EarlierResults(const PointSpace& space, const std::vector<Trial>& trials) {
  for (const Trial& trial : trials) {
    absl::StatusOr<Point> point = space.ToPoint(trial.config);
    if (point.ok() && times_ms_.emplace(*point, trial.perf_ms).second) points_.push_back(*std::move(point));
  }
}

void EarlierResults::Compare(const Outcome& outcome) {
  const auto earlier = times_ms_.find(outcome.point);
  if (earlier == times_ms_.end()) return;
  ++compared_;
  if (!IsSame(earlier->second, outcome.perf_ms)) ++different_;
}

bool EarlierResults::Agree() const {
  const auto share = static_cast<size_t>(kDifferentShare * static_cast<double>(compared_));
  return different_ <= std::max(kFewDifferent, share);
}

}  // namespace telemetry::worker::tune::search
