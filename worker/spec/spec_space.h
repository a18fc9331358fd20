#pragma once

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/codegen/config_space.h"
#include "worker/spec/constrained_space.h"
#include "worker/spec/specification.h"

namespace telemetry::worker::spec {

// The configs of a specification in the form that searches use.

// Returns the space. Parameters with powers of two, or with consecutive integers, are ordered dimensions. The default
// config is the specification's, or the first valid config if that one violates a constraint. Returns the errors of
// ConstrainedSpace::Create.
absl::StatusOr<codegen::ConfigSpace> MakeConfigSpace(std::shared_ptr<const Specification> spec);

// Converts between a config and an index of values for each parameter. INVALID_ARGUMENT: a parameter is missing, or has
// a value that is not in the specification.
codegen::Config ToConfig(const Specification& spec, const std::vector<size_t>& indexes);
absl::StatusOr<std::vector<size_t>> ToIndexes(const Specification& spec, const codegen::Config& config);

}  // namespace telemetry::worker::spec
