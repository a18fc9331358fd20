#include "worker/model/first_configs.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/status/statusor.h"
#include "proto/base/random.h"
#include "worker/tune/search/point_space.h"
#include "worker/tune/search/sampler.h"

namespace telemetry::worker::model {
namespace {

using tune::search::Point;
using tune::search::PointSpace;

constexpr size_t kClimbers = 20;  // configs whose neighbours a round ranks

struct Candidate {
  Point point;
  double predicted = 0;
};

// Ranks distinct valid points.
class Ranking {
 public:
  Ranking(const PointSpace& space, const RunFeatures& features, const CostModel& model)
      : space_(space), features_(features), model_(model) {}

  void Add(const Point& point) {
    if (!seen_.insert(point).second || !space_.IsValid(point)) return;
    candidates_.push_back({point, model_.Predict(features_.Of(space_.ToConfig(point)))});
  }
  // Returns the candidates, the fastest first.
  const std::vector<Candidate>& Sorted() {
    std::stable_sort(candidates_.begin(), candidates_.end(),
                     [](const Candidate& a, const Candidate& b) { return a.predicted < b.predicted; });
    return candidates_;
  }

 private:
  const PointSpace& space_;
  const RunFeatures& features_;
  const CostModel& model_;
  std::set<Point> seen_;
  std::vector<Candidate> candidates_;
};

void AddSample(const PointSpace& space, const FirstConfigsOptions& options, Ranking* ranking) {
  if (space.valid_size() <= static_cast<int64_t>(options.sample)) {
    for (int64_t i = 0; i < space.valid_size(); ++i) ranking->Add(space.ValidAt(i));
    return;
  }
  Random random(options.seed);
  tune::search::Sampler sampler(&space, &random);
  ranking->Add(space.Default());
  for (size_t i = 0; i < options.sample; ++i) ranking->Add(i % 2 == 0 ? sampler.Plausible() : sampler.Uniform());
}

// Returns the number of dimensions in which two points differ.
int64_t Differences(const Point& a, const Point& b) {
  int64_t differences = 0;
  for (size_t i = 0; i < a.size(); ++i) differences += a[i] != b[i] ? 1 : 0;
  return differences;
}

bool IsApart(const Point& point, const std::vector<Point>& chosen) {
  return std::none_of(chosen.begin(), chosen.end(), [&](const Point& other) { return Differences(point, other) < 2; });
}

}  // namespace

std::vector<codegen::Config> FirstConfigs(const codegen::ConfigSpace& space, const RunFeatures& features,
                                          const CostModel& model, const FirstConfigsOptions& options) {
  const PointSpace points(space);
  Ranking ranking(points, features, model);
  AddSample(points, options, &ranking);
  for (const codegen::Config& config : options.also) {
    if (const absl::StatusOr<Point> point = points.ToPoint(config); point.ok()) ranking.Add(*point);
  }
  for (int climb = 0; climb < options.climbs; ++climb) {
    std::vector<Point> neighbours;
    const std::vector<Candidate>& best = ranking.Sorted();
    for (size_t i = 0; i < std::min(kClimbers, best.size()); ++i) {
      for (Point& neighbour : points.Neighbours(best[i].point)) neighbours.push_back(std::move(neighbour));
    }
    for (const Point& neighbour : neighbours) ranking.Add(neighbour);
  }

  std::vector<Point> chosen;
  for (const bool must_be_apart : {true, false}) {
    for (const Candidate& candidate : ranking.Sorted()) {
      if (chosen.size() >= options.count) break;
      if (std::find(chosen.begin(), chosen.end(), candidate.point) != chosen.end()) continue;
      if (!must_be_apart || IsApart(candidate.point, chosen)) chosen.push_back(candidate.point);
    }
  }
  std::vector<codegen::Config> configs;
  configs.reserve(chosen.size());
  for (const Point& point : chosen) configs.push_back(points.ToConfig(point));
  return configs;
}

}  // namespace telemetry::worker::model
