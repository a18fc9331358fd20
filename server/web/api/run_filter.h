#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "server/web/api/call.h"

namespace telemetry::web::api {

// Returns the condition on the table of runs named r that the parameters kFilterNames and `q` state: "1 = 1" if there
// are none. `except`: a parameter that is left out.
absl::StatusOr<std::string> RunCondition(const Call& call, std::string_view except = "");

}  // namespace telemetry::web::api
