#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/spec/space_group.h"
#include "worker/spec/specification.h"

namespace telemetry::worker::spec {

// The configs of a specification that fulfil its constraints, numbered from 0. A config is an index of values for each
// parameter.
//
// Parameters that no constraint connects are independent: they form groups, of which only the number of combinations is
// stored. The parameters of one group are enumerated depth first, and a constraint is checked as soon as its last
// parameter is known. A space of 10^15 configs is therefore usable if its groups are small. Immutable and safe to share
// between threads.
class ConstrainedSpace {
 public:
  // Enumerates the space. INVALID_ARGUMENT: no config fulfils the constraints, or a constraint cannot be evaluated; the
  // message has its path and the values. RESOURCE_EXHAUSTED: a group exceeds `limits`, or the space has more than 2^62
  // configs.
  static absl::StatusOr<ConstrainedSpace> Create(const Specification& spec, const SpaceLimits& limits = {});

  int64_t size() const { return size_; }
  // Requires 0 <= index < size(). Uniform indexes give uniform samples.
  std::vector<size_t> ConfigAt(int64_t index) const;
  // Returns the index of a config, or nullopt if the config violates a constraint.
  std::optional<int64_t> Find(const std::vector<size_t>& config) const;
  // The memory of the enumerated groups.
  size_t memory_bytes() const;

 private:
  size_t parameters_ = 0;
  std::vector<SpaceGroup> groups_;
  int64_t size_ = 1;
};

}  // namespace telemetry::worker::spec
