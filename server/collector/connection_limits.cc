#include "server/collector/connection_limits.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "server/net/file_limit.h"

namespace telemetry::collector {

net::ConnectionLimits ComputeConnectionLimits(const call::Limits& limits) {
  const uint64_t half = std::max<uint64_t>(limits.max_connections / 2, 1);
  const uint64_t per_address = limits.max_connections_per_address;
  return {.in_total = limits.max_connections, .per_network = per_address == 0 ? half : per_address};
}

absl::StatusOr<call::Limits> FitConnections(call::Limits limits, uint64_t files) {
  const uint64_t most = net::ConnectionsWithin(files);
  if (most == 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("only ", files, " files may be open, and serve needs more than ", net::kReservedFiles,
                     ": raise the hard limit (ulimit -Hn, LimitNOFILE= of a systemd unit)"));
  }
  limits.max_connections = std::min(limits.max_connections, most);
  limits.max_connections_per_address = std::min(ComputeConnectionLimits(limits).per_network, most);
  return limits;
}

}  // namespace telemetry::collector
