#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/codegen/config_space.h"
#include "worker/tune/search/dimension.h"

namespace telemetry::worker::tune::search {

// A config as one ordinal per dimension.
using Point = std::vector<int64_t>;

// A config space whose configs are points. Immutable; keeps a copy of the space.
class PointSpace {
 public:
  explicit PointSpace(const codegen::ConfigSpace& space);

  const std::vector<Dimension>& dimensions() const { return dimensions_; }
  Point Default() const;
  // The number of points, including those that violate a constraint; at most kManyPoints.
  int64_t size() const { return size_; }
  static constexpr int64_t kManyPoints = int64_t{1} << 40;
  // Requires 0 <= index < size() and size() < kManyPoints.
  Point PointAt(int64_t index) const;

  // Returns a config with a value for every parameter. The config of a valid point is therefore normalised.
  codegen::Config ToConfig(const Point& point) const;
  // Returns the INVALID_ARGUMENT of ConfigSpace::Normalize if the config is not valid in the space.
  absl::StatusOr<Point> ToPoint(const codegen::Config& config) const;
  // Returns the point whose values are those of the config, with defaults for keys that it lacks; nullopt if a value is
  // not one of its parameter. The point may violate constraints.
  std::optional<Point> FindPoint(const codegen::Config& config) const;
  bool IsValid(const Point& point) const;

  // Returns true if constraints connect parameters; the valid points are then numbered.
  bool is_enumerated() const { return space_.enumeration() != nullptr; }
  // The number of valid points if they are enumerated, else size(). ValidAt requires 0 <= index < valid_size(); without
  // an enumeration, the point may violate constraints.
  int64_t valid_size() const;
  Point ValidAt(int64_t index) const;

  // Returns the points that differ by one step in one dimension. They may violate constraints.
  std::vector<Point> Neighbours(const Point& point) const;
  // Returns the points that differ by one step in two of the dimensions that trade against each other: block sizes,
  // reduction loops, number of warps, thread blocks of a cluster. They may violate constraints.
  std::vector<Point> Trades(const Point& point) const;

 private:
  codegen::ConfigSpace space_;
  std::vector<Dimension> dimensions_;
  std::vector<size_t> sizes_;  // indexes of the dimensions that trade
  int64_t size_ = 1;
};

}  // namespace telemetry::worker::tune::search
