#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "proto/clock/steady.h"
#include "server/net/connection_table.h"
#include "server/net/listener.h"
#include "server/net/network.h"
#include "server/net/network_pace.h"
#include "server/net/process_memory.h"
#include "server/net/receive_meter.h"
#include "server/net/socket.h"

namespace telemetry::net {

struct AcceptorOptions {
  std::string address;  // as ListenAt takes it
  ConnectionLimits limits;
  // A connection that has sent nothing for so long is closed.
  absl::Duration silent_timeout = absl::Seconds(20);
  ListenerOptions listener;
  // A listening socket that is lost is opened again for so long before `on_lost` is called.
  absl::Duration reopen_timeout = absl::Seconds(10);
  // Called on the acceptor's thread when a listening socket could not be opened again for so long, and again each time
  // so much time has passed; the process should end.
  std::function<void(const absl::Status& status)> on_lost;
  // Is told what each connection has read, and says which to end; nullptr: none. Outlives the acceptor.
  ReceiveMeter* meter = nullptr;
  // The resident memory of the process beyond which it is scarce for the meter; 0: none. A network whose connections
  // are ended for that is shunned (NetworkPace).
  uint64_t memory_bytes = 0;
};

// Accepts the connections of a port on a thread of its own. Connections beyond the limits are reset at once; a
// connection that has sent nothing makes room for a new one. The others are handed over with their first byte unread,
// at the pace of their network (NetworkPace); a shunned network's are reset.
//
// Out of descriptors or memory, the acceptor drops the connections that wait and goes on; it never stops listening. It
// checks its listening sockets each second.
class Acceptor {
 public:
  // Takes a connected, non-blocking socket, and closes it in the end. Called on the acceptor's thread.
  using TakeConnection = std::function<void(int fd)>;

  // Listens; connections wait until Start. UNAVAILABLE: as ListenAt.
  static absl::StatusOr<std::unique_ptr<Acceptor>> Open(AcceptorOptions options);
  // As Stop.
  ~Acceptor();

  int port() const { return port_; }
  // Accepts from now on. Once only.
  void Start(TakeConnection take);
  // Ends the connection of this peer, which floods the server, also one that was handed over: whoever serves it finds
  // it closed. Its network is shunned. Thread-safe.
  void EndConnection(const Peer& peer) ABSL_LOCKS_EXCLUDED(mutex_);
  // Stops listening and closes the connections that were not handed over. Afterwards nothing is handed over.
  void Stop();

  // Counts since Open. Thread-safe.
  struct Counts {
    uint64_t open = 0;             // connections now, silent ones included
    uint64_t refused = 0;          // no room in total
    uint64_t refused_network = 0;  // no room for the network
    uint64_t shunned = 0;          // the network floods
    uint64_t made_room = 0;        // silent, closed for another
    uint64_t silent = 0;           // silent, closed by the time limit
    uint64_t dropped = 0;          // no descriptor was free
    uint64_t ended = 0;            // by EndConnection or the meter
    uint64_t reopened = 0;         // listening sockets that were lost
  };
  Counts counts() const;

 private:
  Acceptor(AcceptorOptions options, std::vector<Listener> listeners);
  absl::Status SetUp();
  void Run();
  // Handles an event of this descriptor. False: Stop was called.
  bool Handle(int fd);
  Listener* FindListener(int fd);
  bool Watch(int fd, uint32_t events) const;

  void AcceptFrom(Listener& listener);
  // Handles an accept that failed with `error`. False: no use to try again now.
  bool HandleError(Listener& listener, int error);
  // Accepts one connection on the spare descriptor and resets it. False: none was there.
  bool DropOne(const Listener& listener);
  // Leaves the listener alone for a moment.
  void Rest(const Listener& listener);
  void Admit(int fd, const Peer& peer);
  // Returns whether there is room for a connection from `network`, after closing a silent one if that is needed.
  bool MakeRoom(const Network& network);
  // Closes silent connections until there is room. False: there are no more.
  bool CloseSilent(const Network& network);
  void RemoveClosed();
  void Drop(int fd);
  // Takes note that a silent connection may have sent something.
  void Hear(int fd);
  // Hands the waiting connections over whose networks have a turn.
  void TakeTurns();
  void EndConnections() ABSL_LOCKS_EXCLUDED(mutex_);
  void End(const Peer& peer);
  void ReadMeters();

  // Looks after everything that no event tells of.
  void Look();
  void CheckListeners();
  void Reopen(Listener& listener);
  void LogRefusals();
  void LogExcesses();

  const AcceptorOptions options_;
  const int port_;
  const absl::Duration look_interval_;

  // The thread's only, once it runs.
  std::vector<Listener> listeners_;
  Socket epoll_;
  Socket spare_;  // closed to accept and close one connection where no descriptor is free
  ConnectionTable table_;
  TakeConnection take_;
  ProcessMemory memory_;
  NetworkPace pace_;
  std::vector<int> waiting_;  // connections that have sent something and wait for their network's turn
  SteadyTime next_turns_ = kLongAgo;
  SteadyTime next_look_;
  SteadyTime next_remove_closed_ = kLongAgo;
  SteadyTime meters_read_at_ = SteadyNow();
  SteadyTime next_reading_ = SteadyNow();
  std::optional<SteadyTime> lost_since_;
  uint64_t logged_refusals_ = 0;
  std::string last_refused_;
  uint64_t excesses_ = 0;  // connections that the meter ended, since the last log line
  std::string last_excess_;

  Socket stop_;
  Socket end_;  // there are peers_to_end_
  absl::Mutex mutex_;
  std::vector<Peer> peers_to_end_ ABSL_GUARDED_BY(mutex_);
  std::atomic<uint64_t> open_ = 0;
  std::atomic<uint64_t> refused_ = 0;
  std::atomic<uint64_t> refused_network_ = 0;
  std::atomic<uint64_t> shunned_ = 0;
  std::atomic<uint64_t> made_room_ = 0;
  std::atomic<uint64_t> closed_silent_ = 0;
  std::atomic<uint64_t> dropped_ = 0;
  std::atomic<uint64_t> ended_ = 0;
  std::atomic<uint64_t> reopened_ = 0;
  std::thread thread_;
};

}  // namespace telemetry::net
