#pragma once

namespace telemetry::net {

// The load of the threads that poll the sockets of a server. kStuck: one thread works on the bytes of few connections
// and keeps the others waiting.
enum class ServerLoad { kLight, kBusy, kStuck };

}  // namespace telemetry::net
