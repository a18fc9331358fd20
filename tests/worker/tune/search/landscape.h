#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "worker/tune/search/point_space.h"
#include "worker/tune/search/search_algorithm.h"

namespace telemetry::worker::tune::search {

// The options of Landscape.
struct LandscapeOptions {
  uint64_t seed = 0;          // of the landscape
  double unexplained = 0.03;  // largest relative increase of a time that does not depend on the parameters
  double clock_error = 0.01;  // largest relative error of a measurement, in either direction
  double failures = 0.06;     // fraction of configs that fail independently of their parameters
};

// Synthetic times of a kernel with the difficulties of real kernels: sizes with one optimum each, some of which trade
// against each other along a narrow valley; a second local minimum, a tenth slower, on the other side of one
// parameter's optimum; registers that spill above a limit; choices with little or no effect; configs that fail, those
// with the largest tiles and some at random; a small unexplained variation; and inexact clocks.
class Landscape {
 public:
  Landscape(const codegen::ConfigSpace& space, LandscapeOptions options);

  // Returns the time of a config relative to the optimum, with the unexplained variation; nullopt if the config fails.
  std::optional<double> Slowdown(const codegen::Config& config) const;
  // Returns the slowdowns with clock errors drawn from `clock_seed`.
  std::vector<Trial> Measure(const std::vector<codegen::Config>& configs, uint64_t clock_seed) const;

 private:
  // A pair of dimensions whose sizes trade against each other.
  struct Valley {
    size_t a;
    size_t b;
    double sign;
    double weight;
  };

  double Log2Time(const Point& point) const;
  double Crowding(const Point& point) const;
  bool IsOtherSide(const Point& point) const;
  // Returns the steps from the optimum on the point's side of the divide.
  double Offset(const Point& point, size_t dimension) const;

  PointSpace space_;
  LandscapeOptions options_;
  Point optimum_;
  Point second_optimum_;
  size_t divide_ = 0;                         // the dimension that separates the regions of the two optima
  std::vector<double> weights_;               // per ordered dimension: log2 of the slowdown per squared step
  std::vector<std::vector<double>> choices_;  // per other dimension and ordinal: log2 of the slowdown
  std::vector<Valley> valleys_;
  std::vector<size_t> sizes_;
};

// The result of a search on a landscape.
struct SearchResult {
  double slowdown = 0;  // true slowdown of the config with the fastest measurement; infinity: all configs failed
  size_t configs = 0;
  size_t failures = 0;
};
// Asks for configs whenever fewer than `in_flight` have no result. 1: after each generation. More: as a tuner does that
// keeps several compilers busy. Results come in the order of the proposals.
SearchResult RunSearch(SearchAlgorithm* search, const Landscape& landscape, uint64_t clock_seed, size_t in_flight = 1);

}  // namespace telemetry::worker::tune::search
