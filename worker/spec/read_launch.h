#pragma once

#include "absl/status/statusor.h"
#include "worker/spec/json_member.h"
#include "worker/spec/specification.h"

namespace telemetry::worker::spec {

// Reads the shape of a launch from an object with T1's GlobalSize and LocalSize, or with Kernel Tuner's GridDivX,
// GridDivY and GridDivZ over the problem size of `spec`. The parameters of `spec` are complete.
absl::StatusOr<LaunchExpressions> ReadLaunch(const JsonMember& kernel, const Specification& spec);

}  // namespace telemetry::worker::spec
