#pragma once

#include <optional>
#include <string_view>

#include "absl/time/time.h"

namespace telemetry::client {

// The pause that a server asks for in a failed call's details (the trailer grpc-status-details-bin, a google.rpc.Status
// with a google.rpc.RetryInfo). Empty: it asks for none. At most an hour is believed. Pure function.
std::optional<absl::Duration> RetryDelayOf(std::string_view error_details);

}  // namespace telemetry::client
