#pragma once

#include <string_view>

namespace telemetry::collector {

// True for HOST:PORT with a port from 0 to 65535: "127.0.0.1:4747", "localhost:0", "[::1]:4747". gRPC itself would take
// much more, and some of it for something else than it says.
bool IsListenAddress(std::string_view address);

}  // namespace telemetry::collector
