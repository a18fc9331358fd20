#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "worker/tune/search/point_space.h"
#include "worker/tune/search/search_algorithm.h"

namespace telemetry::worker::tune {

struct LandscapeOptions {
  uint64_t seed = 0;          // what is where follows from it
  double unexplained = 0.03;  // how much longer a config may take than its parameters tell, as a share
  double clock_error = 0.01;  // the same, of a measurement either way
  double failures = 0.06;     // share of all configs that fail wherever they are
};

// Times of a kernel that was never run, made up so that a search has the trouble that real kernels give: sizes with an
// optimum each, some of which trade against each other along a narrow valley; a second such place, a tenth slower, on
// the other side of one parameter's optimum; registers that spill beyond a point; choices that matter little or not at
// all; configs that fail, in the corner of the largest tiles and here and there; a little that nothing explains; and
// clocks that are not exact.
class Landscape {
 public:
  Landscape(const codegen::ConfigSpace& space, LandscapeOptions options);

  // How many times as long as at the optimum, but for what nothing explains; nullopt: fails.
  std::optional<double> Slowdown(const codegen::Config& config) const;
  // As measured, by another clock for each seed.
  std::vector<Trial> Measure(const std::vector<codegen::Config>& configs, uint64_t clock_seed) const;

 private:
  struct Valley {
    size_t a;
    size_t b;
    double sign;
    double weight;
  };

  double Log2Time(const Point& point) const;
  double Crowding(const Point& point) const;
  bool IsOtherSide(const Point& point) const;
  // From the optimum of the point's side.
  double Offset(const Point& point, size_t dimension) const;

  PointSpace space_;
  LandscapeOptions options_;
  Point optimum_;
  Point second_optimum_;
  size_t divide_ = 0;                         // the dimension whose optimum lies between the two
  std::vector<double> weights_;               // of sizes and integers, per squared step
  std::vector<std::vector<double>> choices_;  // of others, per ordinal
  std::vector<Valley> valleys_;
  std::vector<size_t> sizes_;
};

// What a search makes of a landscape.
struct SearchResult {
  double slowdown = 0;  // of the config that was measured fastest
  size_t configs = 0;
  size_t failures = 0;
};
SearchResult RunSearch(SearchAlgorithm* search, const Landscape& landscape, uint64_t clock_seed);

}  // namespace telemetry::worker::tune
