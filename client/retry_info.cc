#include "client/retry_info.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "telemetry/v1/status.pb.h"

namespace telemetry::client {

std::optional<absl::Duration> ParseRetryDelay(std::string_view error_details) {
  v1::RpcStatus status;
  if (!status.ParseFromArray(error_details.data(), static_cast<int>(error_details.size()))) return std::nullopt;
  for (const google::protobuf::Any& detail : status.details()) {
    v1::RetryInfo info;
    if (!absl::EndsWith(detail.type_url(), ".RetryInfo") || !info.ParseFromString(detail.value())) continue;
    if (!info.has_retry_delay()) continue;
    const absl::Duration delay =
        absl::Seconds(info.retry_delay().seconds()) + absl::Nanoseconds(info.retry_delay().nanos());
    return std::clamp(delay, absl::ZeroDuration(), absl::Hours(1));
  }
  return std::nullopt;
}

}  // namespace telemetry::client
