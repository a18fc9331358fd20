#pragma once

#include <vector>

#include "worker/runtime/search.h"

namespace telemetry::worker::runtime {

// Measures a few configs, one after the other, and returns the one with the smallest median time. A config that does
// not compile or run is skipped with a warning. `force` has no effect: configs are always measured. Returns the first
// config's error if no config runs.
class FiniteSearch : public Search {
 public:
  explicit FiniteSearch(std::vector<codegen::Config> configs) : configs_(std::move(configs)) {}

  absl::StatusOr<codegen::Config> Find(BoundKernel& kernel, absl::Span<const Argument> arguments, bool force) override;

 private:
  std::vector<codegen::Config> configs_;
};

}  // namespace telemetry::worker::runtime
