#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "server/call/limits.h"
#include "server/net/connection_table.h"

namespace telemetry::collector {

// Returns the most connections that the port accepts, in total and from one address.
net::ConnectionLimits ComputeConnectionLimits(const call::Limits& limits);

// Returns `limits` with the connection limits lowered to fit a process that may open `files` files. Returns
// FAILED_PRECONDITION if `files` leaves no room for connections.
absl::StatusOr<call::Limits> FitConnections(call::Limits limits, uint64_t files);

}  // namespace telemetry::collector
