#pragma once

#include <string_view>

namespace telemetry::access {

// True where nothing leaves this machine: HOST:PORT with a loopback address or "localhost", or a socket as gRPC names
// it
// ("unix:PATH"). A name that only begins like an address ("127.0.0.1.example.org:80") is none.
bool StaysOnThisMachine(std::string_view address);

}  // namespace telemetry::access
