#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "proto/record/json.h"
#include "worker/codegen/config.h"

namespace telemetry::worker::tune {

// One parameter of a config space with its values numbered from 0: numbers by size, choices in their order,
// permutations lexicographically, None last. What searches calculate with. Immutable.
class Dimension {
 public:
  explicit Dimension(codegen::ConfigParameter parameter);

  const codegen::ConfigParameter& parameter() const { return parameter_; }
  int64_t count() const { return count_; }
  int64_t default_ordinal() const { return default_ordinal_; }
  // Sizes and integers: the distance of two ordinals means something.
  bool is_ordered() const;
  bool IsNone(int64_t ordinal) const { return parameter_.optional && ordinal == count_ - 1; }

  record::Json ValueAt(int64_t ordinal) const;
  // nullopt: not a value of this parameter.
  std::optional<int64_t> OrdinalOf(const record::Json& value) const;
  // The number itself, of one that is not None: 128 of num_warps=128. Sizes and integers only.
  int64_t NumberAt(int64_t ordinal) const;

  // One step away, in ascending order: the next sizes up and down; every other choice; a swap of two places. A
  // dimension with more integers than one would walk has longer steps as well. None is next to the largest few sizes.
  // Whoever is near is near the other way round too.
  std::vector<int64_t> NeighboursOf(int64_t ordinal) const;

  // Appends what a model sees of a value: log2 of a size, a flag for None, one flag per choice, the place of each axis.
  // Always as many numbers. A dimension with a single value has none.
  void Encode(int64_t ordinal, std::vector<double>* features) const;

 private:
  int64_t NumberCount() const;

  codegen::ConfigParameter parameter_;
  int64_t count_ = 0;
  int64_t default_ordinal_ = 0;
};

}  // namespace telemetry::worker::tune
