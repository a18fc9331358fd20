#include "server/commands/listen_address.h"

#include "proto/access/address.h"

namespace telemetry::commands {

bool IsListenAddress(std::string_view address) { return access::IsHostPort(address); }

}  // namespace telemetry::commands
