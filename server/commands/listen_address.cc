#include "server/commands/listen_address.h"

#include "proto/access/address.h"

namespace telemetry::collector {

bool IsListenAddress(std::string_view address) { return access::IsHostPort(address); }

}  // namespace telemetry::collector
