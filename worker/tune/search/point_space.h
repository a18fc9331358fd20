#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/codegen/config.h"
#include "worker/tune/search/dimension.h"

namespace telemetry::worker::tune {

// A config as an ordinal per dimension.
using Point = std::vector<int64_t>;

// A config space in numbers. Immutable; keeps a copy of the space.
class PointSpace {
 public:
  explicit PointSpace(const codegen::ConfigSpace& space);

  const std::vector<Dimension>& dimensions() const { return dimensions_; }
  Point Default() const;
  // How many points there are, the ones that break a constraint among them; at most kManyPoints.
  int64_t size() const { return size_; }
  static constexpr int64_t kManyPoints = int64_t{1} << 40;
  // 0 <= index < size(), of spaces with less than kManyPoints.
  Point PointAt(int64_t index) const;

  // Complete, and so normalised where it is valid.
  codegen::Config ToConfig(const Point& point) const;
  // INVALID_ARGUMENT as ConfigSpace::Normalize.
  absl::StatusOr<Point> ToPoint(const codegen::Config& config) const;
  bool IsValid(const Point& point) const;

  // Those that differ by one step in one dimension. May break constraints.
  std::vector<Point> Neighbours(const Point& point) const;
  // Those that differ by one step in two of the sizes that trade against each other: blocks, chunks of reductions,
  // warps, blocks of a cluster. May break constraints.
  std::vector<Point> Trades(const Point& point) const;

 private:
  codegen::ConfigSpace space_;
  std::vector<Dimension> dimensions_;
  std::vector<size_t> sizes_;  // the dimensions that trade
  int64_t size_ = 1;
};

}  // namespace telemetry::worker::tune
