#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace telemetry::worker::model {

inline constexpr float kNotKnown = std::numeric_limits<float>::quiet_NaN();

// The features of a config, in a fixed order. The function that computes a feature also names it, so that names and
// values cannot differ.
class FeatureRow {
 public:
  // Collects the names of the features, too, if `names` is not null. `names` must outlive the row.
  explicit FeatureRow(std::vector<std::string>* names = nullptr) : names_(names) {}

  void Add(std::string_view name, double value) {
    values_.push_back(static_cast<float>(value));
    if (names_ != nullptr) names_->emplace_back(name);
  }
  const std::vector<float>& values() const { return values_; }

 private:
  std::vector<float> values_;
  std::vector<std::string>* names_;
};

}  // namespace telemetry::worker::model
