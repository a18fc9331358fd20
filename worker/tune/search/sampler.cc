#include "worker/tune/search/sampler.h"

#include <array>
#include <cmath>
#include <utility>

#include "worker/tune/search/tile_shape.h"

namespace telemetry::worker::tune::search {
namespace {

constexpr int kDraws = 16;
// The probabilities with which a parameter of the default config is redrawn. In most kernels few parameters matter, but
// they are not known beforehand.
constexpr std::array<double, 3> kRates = {0.25, 0.5, 1.0};

}  // namespace

Point Sampler::Redrawn(double rate) {
  Point point = space_->Default();
  for (size_t i = 0; i < point.size(); ++i) {
    if (random_->Chance(rate)) point[i] = random_->Below(space_->dimensions()[i].count());
  }
  return point;
}

Point Sampler::Uniform() {
  return space_->is_enumerated() ? space_->ValidAt(random_->Below(space_->valid_size())) : Redrawn(1);
}

Point Sampler::Plausible() {
  Point best;
  double least = 0;
  for (int i = 0; i < kDraws; ++i) {
    Point point = Redrawn(kRates[random_->Index(kRates.size())]);
    const double implausibility = Implausibility(ComputeTileShape(*space_, point));
    if (random_->Chance(std::exp2(-implausibility))) return point;
    if (!best.empty() && implausibility >= least) continue;
    least = implausibility;
    best = std::move(point);
  }
  return best;
}

Point Sampler::Near(const Point& point, int steps) {
  Point near = point;
  for (int step = 0; step < steps; ++step) {
    const size_t i = random_->Index(near.size());
    const std::vector<int64_t> neighbours = space_->dimensions()[i].FindNeighbours(near[i]);
    if (!neighbours.empty()) near[i] = neighbours[random_->Index(neighbours.size())];
  }
  return near;
}

Point Sampler::Cross(const Point& a, const Point& b) {
  Point child = a;
  for (size_t i = 0; i < child.size(); ++i) {
    if (random_->Chance(0.5)) child[i] = b[i];
  }
  return child;
}

}  // namespace telemetry::worker::tune::search
