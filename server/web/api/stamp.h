#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "server/web/api/call.h"

namespace telemetry::web::api {

// Returns a text that changes with the summaries of the attempts that a condition selects. In the condition, `r` is the
// run, `a` the attempt, and `k` the kernel.
absl::StatusOr<std::string> StampOf(const Call& call, const std::string& condition);

// Returns the stamp of the run that the path of a call names.
absl::StatusOr<std::string> StampOfRun(const Call& call);

// Returns the stamp of all summaries.
absl::StatusOr<std::string> StampOfSummaries(const Call& call);

}  // namespace telemetry::web::api
