#include "worker/tune/search/surrogate_search.h"

#include <algorithm>
#include <set>

#include "absl/types/span.h"
#include "proto/base/parallel.h"

namespace telemetry::worker::tune::search {
namespace {

using Eigen::ArrayXd;
using Eigen::Index;
using Eigen::MatrixXd;

constexpr size_t kParents = 12;         // best points that are mixed
constexpr int kMixtures = 300;          // mixtures among the candidates
constexpr int kStrangers = 200;         // plausible random points among the candidates
constexpr size_t kFirstOfRelated = 10;  // configs of the first generation that related runs predict to be fast
constexpr int kClimbs = 3;              // rounds that add the neighbours of the best candidates
constexpr size_t kClimbers = 12;        // candidates whose neighbours a round adds
constexpr size_t kExploredAround = 6;   // best points whose neighbours are explored
constexpr size_t kPolishedAround = 3;   // best points whose neighbours are polished
constexpr double kPolishedShare = 0.2;  // the last part of max_configs, in which generations only polish
// Configs in flight in that part, before the next are proposed: more if many compilers would be idle.
constexpr size_t kMostLate = 10;
constexpr size_t kMostLateOfMany = 16;
constexpr size_t kConsideredAtOnce = 32;  // candidates that one thread considers at a time
constexpr double kPolishedInEach = 0.2;   // the part of every generation that polishes

}  // namespace

bool SurrogateSearch::IsLate() const { return room() <= kPolishedShare * limits().max_configs; }

// Waits for a part of the first generation, with which the model begins. Steps from the best points need its time, so
// the last part of the search has few configs in flight.
bool SurrogateSearch::NeedsOutcomes() const {
  if (MayFollow()) return false;
  if (2 * outcomes().size() < static_cast<size_t>(limits().first_generation)) return true;
  if (!IsLate()) return false;
  const size_t most =
      most_at_once() > kMostLateOfMany ? kMostLate : std::clamp(2 * most_at_once(), kMostLate, kMostLateOfMany);
  return Unfinished().size() > most;
}

void SurrogateSearch::FillStart() {
  if (!related_.has_times()) return;
  std::vector<Point> points = related_.best_points();
  for (int i = 0; i < kStrangers; ++i) points.push_back(sampler().Plausible());
  const auto is_invalid = [this](const Point& point) { return !space().IsValid(point); };
  points.erase(std::remove_if(points.begin(), points.end(), is_invalid), points.end());
  const auto worth = [this](const MatrixXd& features, const ArrayXd& /*predicted*/) -> ArrayXd {
    return -related_.ExpectedTime(features) - related_.ExpectedFailure(features);
  };
  OfferInOrder(Climb(points, worth, kClimbs), offered() + kFirstOfRelated);
}

void SurrogateSearch::Learnt() {
  for (; compared_ < outcomes().size(); ++compared_) earlier_.Compare(outcomes()[compared_]);
}

// Offers configs of the search that this one repeats. Returns false if it offered none.
bool SurrogateSearch::Follow(size_t count) {
  while (offered() < count && MayFollow()) OfferAnyway(earlier_.points()[next_earlier_++]);
  return offered() > 0;
}

void SurrogateSearch::Fill(size_t count) {
  if (Follow(count)) return;
  if (!model_.Fit(space(), outcomes(), refused())) {
    OfferRandomUpTo(count);
    return;
  }
  const auto polished = static_cast<size_t>(kPolishedInEach * static_cast<double>(count));
  Polish(IsLate() ? count : polished);
  Explore(count);
  OfferRandomUpTo(count);
}

void SurrogateSearch::Polish(size_t count) {
  const auto worth = [this](const MatrixXd& features, const ArrayXd& predicted) -> ArrayXd {
    return -model_.ExpectedTime(features, predicted);
  };
  OfferInOrder(Climb(Around(kPolishedAround), worth, /*rounds=*/0), count);
}

void SurrogateSearch::Explore(size_t count) {
  std::vector<Point> points = Around(kExploredAround);
  for (Point& point : Mixtures()) points.push_back(std::move(point));
  for (int i = 0; i < kStrangers; ++i) points.push_back(sampler().Plausible());
  const auto worth = [this](const MatrixXd& features, const ArrayXd& predicted) {
    return model_.ExpectedGain(features, predicted);
  };
  OfferApart(Climb(points, worth, kClimbs), count);
}

// Returns the points that were not offered before as candidates. Each round adds the neighbours of the best ones.
std::vector<SurrogateSearch::Candidate> SurrogateSearch::Climb(const std::vector<Point>& points, Worth worth,
                                                               int rounds) {
  std::set<Point> considered;
  std::vector<Candidate> candidates;
  Consider(points, worth, &considered, &candidates);
  for (int round = 0; round < rounds; ++round) {
    Consider(AroundMostWorth(&candidates), worth, &considered, &candidates);
  }
  return candidates;
}

std::vector<Point> SurrogateSearch::AroundMostWorth(std::vector<Candidate>* candidates) const {
  const auto some = candidates->begin() + static_cast<std::ptrdiff_t>(std::min(kClimbers, candidates->size()));
  std::partial_sort(candidates->begin(), some, candidates->end(),
                    [](const Candidate& a, const Candidate& b) { return a.worth > b.worth; });
  std::vector<Point> points;
  for (auto candidate = candidates->begin(); candidate != some; ++candidate) {
    for (Point& point : space().Neighbours(candidate->point)) points.push_back(std::move(point));
  }
  return points;
}

// Adds the points that are new to `considered` and were not offered before to the candidates. Computing their features
// and worth takes most of the time of a proposal.
void SurrogateSearch::Consider(const std::vector<Point>& points, Worth worth, std::set<Point>* considered,
                               std::vector<Candidate>* candidates) {
  const size_t before = candidates->size();
  std::vector<Point> added;
  for (const Point& point : points) {
    if (WasOffered(point) || !considered->insert(point).second) continue;
    candidates->push_back({.point = point});
    added.push_back(point);
  }
  const std::vector<double> predictions = predicted_times().Of(added);
  ForEachPart(added.size(), kConsideredAtOnce, [&](size_t begin, size_t end) {
    const auto predicted = Eigen::Map<const ArrayXd>(&predictions[begin], static_cast<Index>(end - begin));
    const ArrayXd worths =
        worth(ComputeFeatures(space(), absl::MakeConstSpan(added).subspan(begin, end - begin)), predicted);
    for (size_t i = begin; i < end; ++i) (*candidates)[before + i].worth = worths[static_cast<Index>(i - begin)];
  });
}

// Offers the candidates in descending order of worth until the proposal has `size` points.
void SurrogateSearch::OfferInOrder(std::vector<Candidate> candidates, size_t size) {
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.worth > b.worth; });
  for (const Candidate& candidate : candidates) {
    if (offered() >= size) return;
    Offer(candidate.point);
  }
}

// Offers the candidates in descending order of worth. Each one, and each point that has no outcome yet, reduces the
// worth of similar ones: their trials would give the same information, or they have no code either.
void SurrogateSearch::OfferApart(const std::vector<Candidate>& candidates, size_t count) {
  if (offered() >= count || is_full()) return;
  std::vector<Point> points;
  for (const Candidate& candidate : candidates) points.push_back(candidate.point);
  ArrayXd worths(static_cast<Index>(points.size()));
  MatrixXd features(CountFeatures(space()), worths.size());
  const MatrixXd unfinished = ComputeFeatures(space(), Unfinished());
  ForEachPart(points.size(), kConsideredAtOnce, [&](size_t begin, size_t end) {
    const MatrixXd part = ComputeFeatures(space(), absl::MakeConstSpan(points).subspan(begin, end - begin));
    const ArrayXd novelty = (1 - model_.Likeness(part, unfinished)).max(0).rowwise().prod();
    for (size_t i = begin; i < end; ++i) {
      worths[static_cast<Index>(i)] = candidates[i].worth * novelty[static_cast<Index>(i - begin)];
    }
    features.middleCols(static_cast<Index>(begin), part.cols()) = part;
  });
  for (size_t left = points.size(); left > 0 && offered() < count && !is_full(); --left) {
    Index best = 0;
    worths.maxCoeff(&best);
    Offer(points[static_cast<size_t>(best)]);
    const ArrayXd novelty = (1 - model_.Likeness(features, features.col(best)).col(0)).max(0);
    worths = (worths < 0).select(worths, worths * novelty);
    worths[best] = -1;  // offered; all others are at least 0
  }
}

std::vector<Point> SurrogateSearch::Around(size_t best) const {
  std::vector<Point> points;
  for (const Outcome& outcome : Best(best)) {
    for (Point& point : space().Neighbours(outcome.point)) points.push_back(std::move(point));
    for (Point& point : space().Trades(outcome.point)) points.push_back(std::move(point));
  }
  return points;
}

std::vector<Point> SurrogateSearch::Mixtures() {
  const std::vector<Outcome> parents = Best(kParents);
  std::vector<Point> points;
  for (int i = 0; i < kMixtures; ++i) {
    const Point& a = parents[random().Index(parents.size())].point;
    const Point& b = parents[random().Index(parents.size())].point;
    points.push_back(sampler().Near(sampler().Cross(a, b), 1 + static_cast<int>(random().Index(3))));
  }
  return points;
}

}  // namespace telemetry::worker::tune::search
