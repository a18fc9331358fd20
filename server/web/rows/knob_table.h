#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "server/web/rows/config_table.h"

namespace telemetry::web::rows {

// A knob, and which value each of a list of configs has.
struct Knob {
  struct Value {
    std::string text;
    std::optional<double> number;  // if every value of the knob is a number
  };
  static constexpr int32_t kAbsent = -1;

  std::string name;
  bool is_number = false;
  std::vector<Value> values;      // numbers in their order, else texts in their order
  std::vector<int32_t> value_of;  // for each config the index of its value, or kAbsent

  // Returns the number of distinct values, of which absence is one.
  size_t CountValues() const;
};

// Returns the knobs of a list of configs, ordered by name. At most `most_knobs` are returned.
std::vector<Knob> FindKnobs(const ConfigTable& table, absl::Span<const int64_t> configs, size_t most_knobs);

}  // namespace telemetry::web::rows
