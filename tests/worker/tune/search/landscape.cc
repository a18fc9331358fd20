#include "tests/worker/tune/search/landscape.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <string_view>

#include "proto/base/random.h"

namespace telemetry::worker::tune::search {
namespace {

using codegen::Config;

constexpr std::array<std::string_view, 4> kSizes = {"block_sizes", "num_ctas", "num_warps", "reduction_loops"};
constexpr double kSpillAt = 3;           // registers spill above 2^kSpillAt times the optimum's elements per thread
constexpr double kSpillCost = 0.4;       // log2 of the slowdown per further doubling
constexpr double kOtherSideCost = 0.14;  // log2 of the slowdown of the second optimum

bool IsSize(const Dimension& dimension) {
  return std::find(kSizes.begin(), kSizes.end(), dimension.parameter().key) != kSizes.end();
}

// Draws a point within a few steps of the default, like the optimum of most kernels.
Point DrawOptimum(const PointSpace& space, Random* random) {
  for (;;) {
    Point point = space.Default();
    for (size_t i = 0; i < point.size(); ++i) {
      const int64_t count = space.dimensions()[i].count();
      if (!space.dimensions()[i].is_ordered()) {
        point[i] = random->Below(count);
      } else {
        point[i] = std::clamp<int64_t>(point[i] + random->Below(7) - 3, 0, count - 1);
      }
    }
    if (space.IsValid(point)) return point;
  }
}

}  // namespace

Landscape::Landscape(const codegen::ConfigSpace& space, LandscapeOptions options) : space_(space), options_(options) {
  Random random(options_.seed);
  optimum_ = DrawOptimum(space_, &random);
  second_optimum_ = DrawOptimum(space_, &random);
  divide_ = random.Index(optimum_.size());
  for (size_t i = 0; i < space_.dimensions().size(); ++i) {
    const Dimension& dimension = space_.dimensions()[i];
    const bool matters = IsSize(dimension) || random.Chance(0.5);
    weights_.push_back(matters ? 0.01 + (IsSize(dimension) ? 0.08 : 0.02) * random.Real() : 0);
    choices_.emplace_back();
    if (IsSize(dimension)) sizes_.push_back(i);
    if (dimension.is_ordered()) continue;
    for (int64_t choice = 0; choice < dimension.count(); ++choice) {
      choices_[i].push_back(matters && choice != optimum_[i] ? 0.15 * random.Real() : 0);
    }
  }
  for (size_t a = 0; a < sizes_.size(); ++a) {
    for (size_t b = a + 1; b < sizes_.size(); ++b) {
      valleys_.push_back({sizes_[a], sizes_[b], random.Chance(0.5) ? 1.0 : -1.0, 0.12 * random.Real()});
    }
  }
}

bool Landscape::IsOtherSide(const Point& point) const { return point[divide_] > optimum_[divide_]; }

double Landscape::Offset(const Point& point, size_t dimension) const {
  const Point& optimum = IsOtherSide(point) ? second_optimum_ : optimum_;
  return static_cast<double>(point[dimension] - optimum[dimension]);
}

double Landscape::Crowding(const Point& point) const {
  double crowding = 0;
  for (const size_t i : sizes_) {
    const bool shares = space_.dimensions()[i].parameter().key == "num_warps";
    crowding += shares ? -Offset(point, i) : Offset(point, i);
  }
  return crowding;
}

double Landscape::Log2Time(const Point& point) const {
  double log2_time = kSpillCost * std::max(0.0, Crowding(point) - kSpillAt);
  if (IsOtherSide(point)) log2_time += kOtherSideCost;
  for (size_t i = 0; i < point.size(); ++i) {
    log2_time += space_.dimensions()[i].is_ordered() ? weights_[i] * Offset(point, i) * Offset(point, i)
                                                     : choices_[i][static_cast<size_t>(point[i])];
  }
  for (const Valley& valley : valleys_) {
    const double off = Offset(point, valley.a) + valley.sign * Offset(point, valley.b);
    log2_time += valley.weight * off * off;
  }
  return log2_time;
}

std::optional<double> Landscape::Slowdown(const Config& config) const {
  const Point point = *space_.ToPoint(config);
  Random luck(options_.seed ^ config.id());
  if (Crowding(point) > 2 * kSpillAt || luck.Chance(options_.failures)) return std::nullopt;
  return std::exp2(Log2Time(point)) * (1 + options_.unexplained * luck.Real());
}

std::vector<Trial> Landscape::Measure(const std::vector<Config>& configs, uint64_t clock_seed) const {
  std::vector<Trial> trials;
  for (const Config& config : configs) {
    Random clock(clock_seed ^ (config.id() * 31));
    std::optional<double> perf_ms = Slowdown(config);
    if (perf_ms) *perf_ms *= 1 + options_.clock_error * (2 * clock.Real() - 1);
    trials.push_back({.config = config, .perf_ms = perf_ms});
  }
  return trials;
}

SearchResult RunSearch(SearchAlgorithm* search, const Landscape& landscape, uint64_t clock_seed, size_t in_flight) {
  SearchResult result;
  std::optional<Trial> best;
  std::deque<Config> unfinished;
  while (true) {
    const std::vector<Config> more = unfinished.size() < in_flight ? search->Propose() : std::vector<Config>();
    unfinished.insert(unfinished.end(), more.begin(), more.end());
    if (unfinished.empty()) break;
    const std::vector<Trial> trials = landscape.Measure({unfinished.front()}, clock_seed);
    unfinished.pop_front();
    search->Learn(trials);
    ++result.configs;
    result.failures += trials[0].perf_ms ? 0 : 1;
    if (trials[0].perf_ms && (!best || *trials[0].perf_ms < *best->perf_ms)) best = trials[0];
  }
  result.slowdown = best ? *landscape.Slowdown(best->config) : INFINITY;
  return result;
}

}  // namespace telemetry::worker::tune::search
