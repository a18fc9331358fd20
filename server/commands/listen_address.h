#pragma once

#include <string_view>

namespace telemetry::commands {

// Returns true for HOST:PORT with a port from 0 to 65535: "127.0.0.1:4747", "localhost:0", "[::1]:4747". gRPC itself
// accepts many more forms and interprets some of them in unexpected ways.
bool IsListenAddress(std::string_view address);

}  // namespace telemetry::commands
