#pragma once

namespace telemetry::net {

// What keeps the threads of a server that poll its sockets. kStuck: one works on the bytes of few connections and keeps
// the others waiting.
enum class ServerLoad { kLight, kBusy, kStuck };

}  // namespace telemetry::net
