#pragma once

#include <cstdint>

namespace telemetry::net {

// Descriptors that are reserved and never used for connections.
inline constexpr uint64_t kReservedFiles =
    16 +  // standard streams, lock file, pollers, listening sockets
    16 +  // the writer: database, write-ahead log, shared memory, file of acknowledgements, journals
    48 +  // readers: 16, of three files each, or their connections to a database server
    16 +  // files that are reread: tokens, certificates, host names, time zones
    32;   // connections of the metrics port

// Raises the limit on open files of this process to the hard limit and returns it.
uint64_t RaiseFileLimit();

// Returns the most connections that may be open if the process may open `files` files; 0 below kReservedFiles.
uint64_t ConnectionsWithin(uint64_t files);

}  // namespace telemetry::net
