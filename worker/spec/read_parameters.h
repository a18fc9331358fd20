#pragma once

#include "absl/status/status.h"
#include "worker/spec/json_member.h"
#include "worker/spec/specification.h"

namespace telemetry::worker::spec {

// Parts of ParseSpecification, which calls them in the order ReadProblemSize, ReadParameters, ReadConstraints.

absl::Status ReadProblemSize(const JsonMember& problem_size, Specification* spec);
absl::Status ReadParameters(const JsonMember& parameters, Specification* spec);
absl::Status ReadConstraints(const JsonMember& conditions, Specification* spec);

}  // namespace telemetry::worker::spec
