#pragma once

#include "absl/status/status.h"
#include "worker/spec/json_member.h"
#include "worker/spec/specification.h"

namespace telemetry::worker::spec {

// Reads the members Verification (worker/spec/README.md) and ReferenceArguments of the kernel. Everything else in
// `spec` is complete.
absl::Status ReadVerification(const JsonMember& kernel, Specification* spec);

}  // namespace telemetry::worker::spec
