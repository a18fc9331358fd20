#pragma once

#include <grpcpp/support/status.h>

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace telemetry::call {

// Converts a status to gRPC's type. The numeric codes are the same. The delay set by TryAgainLater is sent as
// google.rpc.RetryInfo in the trailer grpc-status-details-bin. All conversions use this function.
grpc::Status ToGrpc(const absl::Status& status);

// Returns RESOURCE_EXHAUSTED with `retry_delay` as its RetryInfo.
absl::Status TryAgainLater(const std::string& message, absl::Duration retry_delay);

}  // namespace telemetry::call
