#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/spec/specification.h"

namespace telemetry::worker::spec {

// The limits of an enumeration. The defaults allow some hundred million configs and end after less than a minute.
struct SpaceLimits {
  int64_t operations = 3'000'000'000;  // of expressions, and values that are tried
  size_t memory_bytes = size_t{512} << 20;
};

// Parameters that constraints connect, and the combinations of their values that fulfil these constraints.
//
// The combinations form a tree with one level per parameter. A level stores each node's value and the number of the
// first combination below it, in ascending order, so that both directions are binary searches.
class SpaceGroup {
 public:
  // `parameters` and `constraints` are indexes in `spec`. The operations used are subtracted from `limits`, as is the
  // memory. Returns the errors of ConstrainedSpace::Create; a group may have no combination.
  static absl::StatusOr<SpaceGroup> Create(const Specification& spec, std::vector<int> parameters,
                                           const std::vector<int>& constraints, SpaceLimits* limits);

  int64_t size() const { return size_; }
  // Sets the values of the group's parameters.
  void Set(int64_t index, std::vector<size_t>* config) const;
  std::optional<int64_t> Find(const std::vector<size_t>& config) const;
  size_t memory_bytes() const;

 private:
  friend class GroupEnumeration;

  struct Level {
    std::vector<uint16_t> values;
    std::vector<uint32_t> first;  // empty for the last level, where node i is combination i
  };

  std::vector<int> parameters_;
  std::vector<Level> levels_;  // empty: a group of one parameter without constraints
  int64_t size_ = 0;
};

}  // namespace telemetry::worker::spec
