#include "worker/tune/search/point_space.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "proto/base/status_macros.h"

namespace telemetry::worker::tune::search {
namespace {

using codegen::Config;
using record::Json;

constexpr std::array<std::string_view, 4> kTradedKeys = {"block_sizes", "num_ctas", "num_warps", "reduction_loops"};

// Returns true if a smaller size in this dimension can compensate for a larger one in another.
bool IsTraded(const Dimension& dimension) {
  return dimension.count() > 1 &&
         std::find(kTradedKeys.begin(), kTradedKeys.end(), dimension.parameter().key) != kTradedKeys.end();
}

}  // namespace

PointSpace::PointSpace(const codegen::ConfigSpace& space) : space_(space) {
  for (const codegen::ConfigParameter& parameter : space_.parameters()) {
    dimensions_.emplace_back(parameter);
    if (IsTraded(dimensions_.back())) sizes_.push_back(dimensions_.size() - 1);
    const int64_t count = dimensions_.back().count();
    size_ = size_ > kManyPoints / count ? kManyPoints : size_ * count;
  }
}

Point PointSpace::Default() const {
  Point point;
  point.reserve(dimensions_.size());
  for (const Dimension& dimension : dimensions_) point.push_back(dimension.default_ordinal());
  return point;
}

Point PointSpace::PointAt(int64_t index) const {
  Point point;
  point.reserve(dimensions_.size());
  for (const Dimension& dimension : dimensions_) {
    point.push_back(index % dimension.count());
    index /= dimension.count();
  }
  return point;
}

Config PointSpace::ToConfig(const Point& point) const {
  Json object = Json::Object();
  for (size_t i = 0; i < dimensions_.size(); ++i) {
    const codegen::ConfigParameter& parameter = dimensions_[i].parameter();
    Json value = dimensions_[i].ValueAt(point[i]);
    if (parameter.index < 0) {
      object.members.emplace_back(parameter.key, std::move(value));
      continue;
    }
    if (parameter.index == 0) object.members.emplace_back(parameter.key, Json::Array());
    object.members.back().second.items.push_back(std::move(value));
  }
  return Config(std::move(object));
}

absl::StatusOr<Point> PointSpace::ToPoint(const Config& config) const {
  ASSIGN_OR_RETURN(const Config normal, space_.Normalize(config));
  Point point;
  point.reserve(dimensions_.size());
  for (const Dimension& dimension : dimensions_) {
    const codegen::ConfigParameter& parameter = dimension.parameter();
    const Json* value = normal.json().Find(parameter.key);
    if (parameter.index >= 0) value = &value->items[static_cast<size_t>(parameter.index)];
    point.push_back(dimension.FindOrdinal(*value).value_or(0));
  }
  return point;
}

std::optional<Point> PointSpace::FindPoint(const Config& config) const {
  Point point;
  point.reserve(dimensions_.size());
  for (const Dimension& dimension : dimensions_) {
    const codegen::ConfigParameter& parameter = dimension.parameter();
    const Json* value = config.json().Find(parameter.key);
    if (value != nullptr && parameter.index >= 0) {
      const auto index = static_cast<size_t>(parameter.index);
      if (index >= value->items.size()) return std::nullopt;
      value = &value->items[index];
    }
    const std::optional<int64_t> ordinal =
        value == nullptr ? std::optional(dimension.default_ordinal()) : dimension.FindOrdinal(*value);
    if (!ordinal) return std::nullopt;
    point.push_back(*ordinal);
  }
  return point;
}

bool PointSpace::IsValid(const Point& point) const { return space_.Normalize(ToConfig(point)).ok(); }

int64_t PointSpace::valid_size() const {
  return space_.enumeration() == nullptr ? size_ : space_.enumeration()->size();
}

Point PointSpace::ValidAt(int64_t index) const {
  if (space_.enumeration() == nullptr) return PointAt(index);
  return ToPoint(space_.enumeration()->At(index)).value_or(Default());
}

std::vector<Point> PointSpace::Neighbours(const Point& point) const {
  std::vector<Point> near;
  for (size_t i = 0; i < dimensions_.size(); ++i) {
    for (const int64_t ordinal : dimensions_[i].FindNeighbours(point[i])) {
      near.push_back(point);
      near.back()[i] = ordinal;
    }
  }
  return near;
}

std::vector<Point> PointSpace::Trades(const Point& point) const {
  std::vector<Point> trades;
  for (size_t first = 0; first < sizes_.size(); ++first) {
    for (size_t second = first + 1; second < sizes_.size(); ++second) {
      const size_t a = sizes_[first];
      const size_t b = sizes_[second];
      for (const int64_t of_a : dimensions_[a].FindNeighbours(point[a])) {
        for (const int64_t of_b : dimensions_[b].FindNeighbours(point[b])) {
          trades.push_back(point);
          trades.back()[a] = of_a;
          trades.back()[b] = of_b;
        }
      }
    }
  }
  return trades;
}

}  // namespace telemetry::worker::tune::search
