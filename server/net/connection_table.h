#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "proto/base/steady.h"
#include "server/net/network.h"
#include "server/net/receive_meter.h"
#include "server/net/socket.h"

namespace telemetry::net {

// The largest numbers of open connections.
struct ConnectionLimits {
  uint64_t in_total = 2048;
  uint64_t per_network = 1024;
};

// The open connections of one port. A connection is silent until its peer has sent something. Owns no descriptor. Not
// thread-safe.
class ConnectionTable {
 public:
  explicit ConnectionTable(ConnectionLimits limits) : limits_(limits) {}

  enum class Room { kYes, kNetworkIsFull, kAllIsFull };
  // Returns kYes if there is room for one more connection from `network`, or the limit that is reached.
  Room RoomFor(const Network& network) const;

  // Adds a silent connection. `fd` must be open. An older connection with the same descriptor has been closed and is
  // removed.
  void Add(int fd, const Peer& peer, SteadyTime now);
  void SetTalking(int fd);
  void Remove(int fd);
  bool IsSilent(int fd) const;
  // Requires that the connection is in the table.
  const Network& PeerNetwork(int fd) const { return connections_.at(fd).peer.network; }
  // Removes the connections whose descriptors were closed by their server. Costs one fstat per connection.
  void RemoveClosed();

  // Returns a duplicate descriptor of the connection from `peer`, or nullopt if it is not open.
  std::optional<Socket> Share(const Peer& peer) const;
  // Returns the number of bytes read from each connection that has sent something.
  std::vector<ReceiveMeter::Reading> ReadMeters();

  // Returns the oldest silent connection of all or of one network, or nullopt.
  std::optional<int> OldestSilent() const;
  std::optional<int> OldestSilent(const Network& network) const;
  // Returns the oldest silent connection if it was added at `time` or before.
  std::optional<int> OldestSilent(SteadyTime time) const;

  uint64_t size() const { return connections_.size(); }

 private:
  // Descriptors by order of arrival.
  using Queue = std::map<uint64_t, int>;
  struct Connection {
    Peer peer;
    FileId file;
    SteadyTime since;
    uint64_t number;
    uint64_t read_bytes = 0;  // bytes that the server had read at the last reading
  };
  struct Members {
    uint64_t connections = 0;
    Queue silent;
  };
  void Forget(const Connection& connection);
  // Sets read_bytes. Returns false if the descriptor is no longer that of the connection.
  static bool CountRead(int fd, Connection& connection);

  const ConnectionLimits limits_;
  uint64_t last_number_ = 0;
  absl::flat_hash_map<int, Connection> connections_;
  absl::flat_hash_map<Network, Members> networks_;
  Queue silent_;
};

}  // namespace telemetry::net
