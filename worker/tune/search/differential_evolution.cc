#include "worker/tune/search/differential_evolution.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace telemetry::worker::tune::search {
namespace {

constexpr double kCrossover = 0.7;
constexpr double kLeastFactor = 0.4;  // smallest weight of a difference; the largest is 1
constexpr double kBestShare = 0.2;    // fraction of the population that members move towards
constexpr int kTries = 24;            // attempts to create a child that was not offered before

double TimeOrInfinity(const Outcome& outcome) {
  return outcome.perf_ms.value_or(std::numeric_limits<double>::infinity());
}

bool IsFaster(const Outcome& a, const Outcome& b) { return TimeOrInfinity(a) < TimeOrInfinity(b); }

}  // namespace

void DifferentialEvolution::Fill(size_t /*count*/) {
  challenged_.clear();
  for (size_t member = 0; member < members_.size() && !is_full(); ++member) {
    if (OfferChild(members_[member].point) || OfferRandom()) challenged_.push_back(member);
  }
}

bool DifferentialEvolution::OfferChild(const Point& member) {
  for (int i = 0; i < kTries; ++i) {
    Point child = Child(member);
    // A converged population has no differences left, so retries add random steps.
    if (i > 0) child = sampler().Near(child, 1 + i / 6);
    if (Offer(child)) return true;
  }
  return false;
}

Point DifferentialEvolution::Child(const Point& member) {
  const size_t best_few = std::max<size_t>(2, static_cast<size_t>(kBestShare * static_cast<double>(members_.size())));
  // Members are sorted, fastest first.
  const Point& best = members_[random().Index(std::min(best_few, members_.size()))].point;
  const Point& a = members_[random().Index(members_.size())].point;
  const Point& b = members_[random().Index(members_.size())].point;
  const double factor = kLeastFactor + (1 - kLeastFactor) * random().Real();
  const size_t always = random().Index(member.size());
  Point child = member;
  for (size_t i = 0; i < child.size(); ++i) {
    if (i == always || random().Chance(kCrossover)) child[i] = Moved(i, member[i], best[i], a[i], b[i], factor);
  }
  return child;
}

int64_t DifferentialEvolution::Moved(size_t dimension, int64_t from, int64_t best, int64_t a, int64_t b,
                                     double factor) {
  const Dimension& along = space().dimensions()[dimension];
  if (!along.is_ordered()) {
    // Unordered values have no differences. Uses the value of `a` with some probability if `a` and `b` differ, else
    // that of the best.
    if (a != b && random().Chance(factor / 2)) return a;
    return random().Chance(factor) ? best : from;
  }
  const auto target = static_cast<double>(from) + factor * static_cast<double>(best - from + a - b);
  // Rounds up or down at random. Otherwise a difference of one step would always vanish or always remain.
  const auto moved = static_cast<int64_t>(std::floor(target + random().Real()));
  return std::clamp<int64_t>(moved, 0, along.count() - 1);
}

void DifferentialEvolution::Learnt() {
  if (members_.empty()) {
    members_ = outcomes();
    std::stable_sort(members_.begin(), members_.end(), IsFaster);
    members_.resize(std::min(members_.size(), size_));
    return;
  }
  const size_t first = outcomes().size() - challenged_.size();
  for (size_t i = 0; i < challenged_.size(); ++i) Meet(challenged_[i], outcomes()[first + i]);
  std::stable_sort(members_.begin(), members_.end(), IsFaster);
}

void DifferentialEvolution::Meet(size_t member, const Outcome& challenger) {
  if (IsFaster(challenger, members_[member])) members_[member] = challenger;
}

}  // namespace telemetry::worker::tune::search
