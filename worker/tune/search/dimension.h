#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "proto/record/json.h"
#include "worker/codegen/config_space.h"

namespace telemetry::worker::tune::search {

// One parameter of a config space with its values numbered from 0. Searches calculate with these ordinals. Numbers are
// ordered by size, choices by their order in the space, permutations lexicographically; None is last. Immutable.
class Dimension {
 public:
  explicit Dimension(codegen::ConfigParameter parameter);

  const codegen::ConfigParameter& parameter() const { return parameter_; }
  int64_t count() const { return count_; }
  int64_t default_ordinal() const { return default_ordinal_; }
  // Returns true for sizes and integers: the distance of two ordinals is meaningful.
  bool is_ordered() const;
  bool IsNone(int64_t ordinal) const { return parameter_.optional && ordinal == count_ - 1; }

  record::Json ValueAt(int64_t ordinal) const;
  // Returns nullopt if `value` is not a value of this parameter.
  std::optional<int64_t> FindOrdinal(const record::Json& value) const;
  // Returns the number at an ordinal that is not None, for example 8 for num_warps=8. Only for sizes and integers.
  int64_t NumberAt(int64_t ordinal) const;

  // Returns the ordinals one step away, in ascending order: the next smaller and larger sizes; every other choice;
  // every permutation with two items swapped. A dimension with many integers has longer steps, too. None is a neighbour
  // of the largest few sizes. The relation is symmetric.
  std::vector<int64_t> FindNeighbours(int64_t ordinal) const;

  // Appends the features of a value for a model: log2 of a size and a flag for None, one flag per choice, or the axes
  // of a permutation in order. The number of features does not depend on the ordinal; it is 0 for a dimension with a
  // single value.
  void Encode(int64_t ordinal, std::vector<double>* features) const;

 private:
  int64_t NumberCount() const;

  codegen::ConfigParameter parameter_;
  int64_t count_ = 0;
  int64_t default_ordinal_ = 0;
};

}  // namespace telemetry::worker::tune::search
