#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "server/call/limits.h"
#include "server/net/connection_table.h"

namespace telemetry::collector {

// Returns how many connections the port takes, in total and from one address.
net::ConnectionLimits ConnectionLimitsOf(const Limits& limits);

// Returns `limits` with as many connections as there may be where the process may open `files` files.
// FAILED_PRECONDITION: there may be none.
absl::StatusOr<Limits> FitConnections(Limits limits, uint64_t files);

}  // namespace telemetry::collector
