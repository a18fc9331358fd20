#pragma once

#include <vector>

#include "worker/kernel/search.h"

namespace telemetry::worker {

// Tries each of a few configs, one after the other, and takes the one with the smallest median time. A config that does
// not compile or run is left out with a warning. It measures in any
// case. Errors: none of them ran (says why the first did not).
class FiniteSearch : public Search {
 public:
  explicit FiniteSearch(std::vector<codegen::Config> configs) : configs_(std::move(configs)) {}

  absl::StatusOr<codegen::Config> Find(BoundKernel& kernel, absl::Span<const Argument> arguments, bool force) override;

 private:
  std::vector<codegen::Config> configs_;
};

}  // namespace telemetry::worker
