#pragma once

#include <optional>
#include <string_view>

#include "absl/time/time.h"

namespace telemetry::client {

// Returns the pause that a server requests in the details of a failed call (the trailer grpc-status-details-bin, a
// google.rpc.Status with a google.rpc.RetryInfo), at most one hour. Returns nullopt if the server requests none. Pure
// function.
std::optional<absl::Duration> ParseRetryDelay(std::string_view error_details);

}  // namespace telemetry::client
