#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "proto/base/steady.h"
#include "server/net/connection_table.h"
#include "server/net/listener.h"
#include "server/net/network.h"
#include "server/net/network_pace.h"
#include "server/net/process_memory.h"
#include "server/net/receive_meter.h"
#include "server/net/server_load.h"
#include "server/net/socket.h"
#include "server/net/storm_filter.h"

namespace telemetry::net {

// The address and the limits of an acceptor.
struct AcceptorOptions {
  std::string address;  // in the format of ListenAt
  ConnectionLimits limits;
  // The longest time that a connection may stay open without sending anything.
  absl::Duration silent_timeout = absl::Seconds(20);
  ListenerOptions listener;
  // The longest time to try to reopen a lost listening socket before `on_lost` is called.
  absl::Duration reopen_timeout = absl::Seconds(10);
  // Called on the acceptor's thread when a lost listening socket could not be reopened within reopen_timeout, and again
  // after each further reopen_timeout. The process should exit.
  std::function<void(const absl::Status& status)> on_lost;
  // Receives the number of bytes read from each connection and selects the connections to end. nullptr: none. Must
  // outlive the acceptor.
  ReceiveMeter* meter = nullptr;
  // The resident memory of the process above which memory counts as scarce for the meter; 0: no limit. A network whose
  // connections are ended for this reason is shunned (NetworkPace).
  uint64_t memory_bytes = 0;
};

// Accepts the connections of a port on its own thread. Connections above the limits are reset immediately; a connection
// that has sent nothing is closed to make room for a new one. A connection whose first byte has arrived is handed over,
// with this byte unread, at the pace of its network (NetworkPace). Connections of a shunned network are reset.
//
// Without free descriptors or memory, the acceptor drops the waiting connections and continues; it never stops
// listening. It checks its listening sockets each second.
class Acceptor {
 public:
  // Takes ownership of a connected, non-blocking socket. Called on the acceptor's thread.
  using TakeConnection = std::function<void(int fd)>;

  // Listens. Connections wait until Start. UNAVAILABLE: see ListenAt.
  static absl::StatusOr<std::unique_ptr<Acceptor>> Open(AcceptorOptions options);
  // Calls Stop().
  ~Acceptor();

  int port() const { return port_; }
  // Returns the present load of the server. Called on the acceptor's thread if there is a meter: every 10 ms, and every
  // 3 ms while the load is not light.
  using LookAtServer = std::function<ServerLoad()>;
  // Starts accepting. Must be called once only. While the server is stuck, the connections that the meter calls the
  // busiest are ended, and their network is shunned. `look_at_server` may be nullptr.
  void Start(TakeConnection take, LookAtServer look_at_server = nullptr);
  // Ends the connection of this peer, because the peer floods the server, and shuns its network. A connection that was
  // handed over is reset too; its server then finds it closed. Thread-safe.
  void EndConnection(const Peer& peer) ABSL_LOCKS_EXCLUDED(mutex_);
  // Stops listening and closes the connections that were not handed over. After that no connection is handed over.
  void Stop();

  // Counts since Open. Thread-safe.
  struct Counts {
    uint64_t open = 0;             // open connections, including silent ones
    uint64_t refused = 0;          // above the total limit
    uint64_t refused_network = 0;  // above the limit of the network
    uint64_t shunned = 0;          // reset because the network is shunned, or was and has no turn now
    uint64_t made_room = 0;        // silent, closed to make room
    uint64_t silent = 0;           // silent, closed after silent_timeout
    uint64_t dropped = 0;          // no descriptor was free
    uint64_t storms = 0;           // times that a network was dropped (StormFilter)
    uint64_t ended = 0;            // ended by EndConnection or the meter
    uint64_t reopened = 0;         // listening sockets that were lost and reopened
  };
  Counts counts() const;

 private:
  Acceptor(AcceptorOptions options, std::vector<Listener> listeners);
  absl::Status SetUp();
  void Run();
  // Handles an event of this descriptor. Returns false if Stop was called.
  bool Handle(int fd);
  Listener* FindListener(int fd);
  bool Watch(int fd, uint32_t events) const;

  void AcceptFrom(Listener& listener);
  // Handles an accept that failed with `error`. Returns false if another attempt would fail now.
  bool HandleError(Listener& listener, int error);
  // Accepts one connection with the spare descriptor and resets it. Returns false if none was waiting.
  bool DropOne(const Listener& listener);
  // Ignores the listener for a moment.
  void Rest(const Listener& listener);
  void Admit(int fd, const Peer& peer);
  // Resets a connection of the network.
  void Refuse(int fd, const Network& network);
  // Makes the listening sockets ignore the networks that the storm filter drops.
  void UpdateFilters();
  // Returns true if there is room for a connection from `network`, after closing a silent one if necessary.
  bool MakeRoom(const Network& network);
  // Closes silent connections until there is room. Returns false if no silent connection is left.
  bool CloseSilent(const Network& network);
  void RemoveClosed();
  void Drop(int fd);
  // Handles a possible first byte of a silent connection.
  void Hear(int fd);
  // Hands over the waiting connections whose networks have a turn.
  void TakeTurns();
  void EndConnections() ABSL_LOCKS_EXCLUDED(mutex_);
  void End(const Peer& peer);
  void ReadMeters();
  // Ends the busiest connections if the server is stuck.
  void CheckServer();

  // Does the periodic work that no event triggers.
  void Look();
  void CheckListeners();
  void Reopen(Listener& listener);
  void LogRefusals();
  // Connections that no log line has counted yet.
  struct Unlogged {
    uint64_t count = 0;
    std::string last;  // network of the last one
  };
  // Logs `message` with the connections, if there are any, and counts them as logged.
  void Log(std::string_view message, Unlogged& connections);

  const AcceptorOptions options_;
  const int port_;
  const absl::Duration look_interval_;

  // Used only by the thread once it runs.
  std::vector<Listener> listeners_;
  Socket epoll_;
  Socket spare_;  // closed to accept and reset one connection when no descriptor is free
  ConnectionTable table_;
  TakeConnection take_;
  LookAtServer look_at_server_;
  ProcessMemory memory_;
  NetworkPace pace_;
  StormFilter storm_;
  bool filter_refused_ = false;  // logged once
  std::vector<int> waiting_;     // connections that have sent something and wait for a turn of their network
  SteadyTime next_turns_ = kLongAgo;
  SteadyTime next_look_;
  SteadyTime next_remove_closed_ = kLongAgo;
  SteadyTime meters_read_at_ = SteadyNow();
  SteadyTime next_reading_ = SteadyNow();
  SteadyTime next_check_ = SteadyNow();
  std::optional<SteadyTime> lost_since_;
  uint64_t logged_refusals_ = 0;
  Unlogged refusals_;  // its count is computed from the counters below
  Unlogged excesses_;  // connections that the meter ended
  Unlogged busiest_;   // connections ended because the server was stuck

  Socket stop_;
  Socket end_;  // signals that peers_to_end_ is not empty
  absl::Mutex mutex_;
  std::vector<Peer> peers_to_end_ ABSL_GUARDED_BY(mutex_);
  std::atomic<uint64_t> open_ = 0;
  std::atomic<uint64_t> refused_ = 0;
  std::atomic<uint64_t> refused_network_ = 0;
  std::atomic<uint64_t> shunned_ = 0;
  std::atomic<uint64_t> made_room_ = 0;
  std::atomic<uint64_t> closed_silent_ = 0;
  std::atomic<uint64_t> dropped_ = 0;
  std::atomic<uint64_t> storms_ = 0;
  std::atomic<uint64_t> ended_ = 0;
  std::atomic<uint64_t> reopened_ = 0;
  std::thread thread_;
};

}  // namespace telemetry::net
