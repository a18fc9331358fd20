#pragma once

#include <grpcpp/support/status.h>

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace telemetry::collector {

// The one place where our statuses become gRPC's. The codes are the same numbers. Advice on when to come back travels
// as google.rpc.RetryInfo in the trailer grpc-status-details-bin.
grpc::Status ToGrpc(const absl::Status& status);

// RESOURCE_EXHAUSTED that carries such advice.
absl::Status TryAgainLater(const std::string& message, absl::Duration retry_delay);

}  // namespace telemetry::collector
