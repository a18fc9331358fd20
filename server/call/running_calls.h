#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "proto/base/steady.h"
#include "server/access/gate.h"
#include "server/call/sender_shares.h"
#include "server/net/network.h"
#include "server/net/receive_meter.h"

namespace telemetry::call {

// A call that other objects can end. None of its methods blocks.
class RunningCall {
 public:
  // Ends the call with this status now, unless it has ended.
  virtual void End(absl::Status status) = 0;
  // Ends the call if the call or its client has exceeded a timeout.
  virtual void CheckTime(SteadyTime now) = 0;
  // Ends the call, because the server is shutting down. A call that ends soon may ignore it.
  virtual void Drain() {}

 protected:
  ~RunningCall() = default;
};

// The kinds of calls. Each kind has its own limits, so that calls of one kind cannot block those of another.
enum class CallKind { kHealth, kExport, kOther };

// A call that was admitted and counted. `method` is a literal.
struct AdmittedCall {
  grpc::ServerContext& context;
  access::Caller caller;
  std::string_view method;
  CallKind kind;
  std::string sender;
  std::optional<net::Peer> peer;  // unset: the call did not arrive on a connection of the port
};

// The registry of the calls of all services. A call counts from its headers until gRPC has finished it. Thread-safe.
// The registry ends calls under its lock, so that a call that has removed itself is never touched again. Therefore a
// call must not call the registry while it holds a lock that the methods of RunningCall acquire.
class RunningCalls {
 public:
  struct Limits {
    uint64_t exports = 64;
    uint64_t others = 2048;
    // gRPC enforces a limit only after the client has acknowledged it; this limit applies before.
    uint64_t calls_per_connection = 32;
    absl::Duration retry_delay = absl::Seconds(1);
    // Called with the peer of a connection that floods the collector with calls. A connection does if it has more than
    // calls_per_connection unfinished calls; if, between two calls of CheckTimes, kMaxVain of its calls were in vain,
    // or one of its calls and kMaxVainOfNetwork calls of its network; or if one of its calls was refused while clients
    // have not read kMaxUnreadRefusals refusals. A call is in vain if it is refused or abandoned. Must not block.
    std::function<void(const std::string& peer)> on_flood;
  };
  static constexpr uint64_t kMaxVain = 64;
  static constexpr uint64_t kMaxVainOfNetwork = 256;
  static constexpr uint64_t kMaxUnreadRefusals = 1024;
  static constexpr uint64_t kMaxHealthCalls = 1024;
  static constexpr uint64_t kMaxHealthCallsPerSender = 256;

  // `gate` and `meter` must outlive the registry.
  RunningCalls(access::Gate& gate, net::ReceiveMeter& meter, const Limits& limits)
      : gate_(gate),
        meter_(meter),
        limits_(limits),
        exports_(limits.exports),
        others_(limits.others, limits.others * 3 / 4) {}

  // Admits a call and counts it; Add registers it. Errors: those of Gate::Admit; RESOURCE_EXHAUSTED with RetryInfo if
  // too many calls of this kind are running, in total or of this sender.
  absl::StatusOr<AdmittedCall> Admit(grpc::ServerContext& context, std::string_view method, CallKind kind)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Counts a call of this peer, admitted or refused, from its headers until gRPC has finished it.
  void AddBeginning(const std::string& peer) ABSL_LOCKS_EXCLUDED(mutex_);
  void AddEnd(const std::string& peer) ABSL_LOCKS_EXCLUDED(mutex_);
  // Counts a refused call of this peer. gRPC keeps the call until the client has read the refusal.
  void AddRefusal(const std::string& peer) ABSL_LOCKS_EXCLUDED(mutex_);
  void RemoveRefusal() ABSL_LOCKS_EXCLUDED(mutex_);
  // Counts an admitted call of this peer that ended before its first message had arrived completely.
  void AddAbandoned(const std::string& peer) ABSL_LOCKS_EXCLUDED(mutex_);
  // Registers an admitted call. `admitted` must live until Remove. During a drain the call is drained immediately.
  void Add(RunningCall* call, const AdmittedCall& admitted) ABSL_LOCKS_EXCLUDED(mutex_);
  void Remove(RunningCall* call) ABSL_LOCKS_EXCLUDED(mutex_);
  // Counts a message of the call that has arrived completely.
  void AddMessage(const AdmittedCall& call, const grpc::ByteBuffer& message);

  // Returns the number of running calls of this method.
  uint64_t CountCalls(std::string_view method) const ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns the number of calls refused so far because too many were running.
  uint64_t too_many() const ABSL_LOCKS_EXCLUDED(mutex_);

  // Ends the calls whose tokens have expired, were revoked or lost the role.
  void Recheck() ABSL_LOCKS_EXCLUDED(mutex_);
  void CheckTimes(SteadyTime now) ABSL_LOCKS_EXCLUDED(mutex_);
  // Drains all calls, including those that begin later.
  void Drain() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  SenderShares& FindShares(CallKind kind) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Count(CallKind kind, const std::string& sender) ABSL_LOCKS_EXCLUDED(mutex_);
  // Counts a call in vain, and calls on_flood if its connection floods the collector.
  void AddVain(const std::string& peer, bool is_refused) ABSL_LOCKS_EXCLUDED(mutex_);

  access::Gate& gate_;
  net::ReceiveMeter& meter_;
  const Limits limits_;
  mutable absl::Mutex mutex_;
  SenderShares health_ ABSL_GUARDED_BY(mutex_) = SenderShares(kMaxHealthCalls, kMaxHealthCallsPerSender);
  SenderShares exports_ ABSL_GUARDED_BY(mutex_);
  SenderShares others_ ABSL_GUARDED_BY(mutex_);
  using Counts = absl::flat_hash_map<std::string, uint64_t>;
  Counts begun_ ABSL_GUARDED_BY(mutex_);  // unfinished calls by peer
  // Calls in vain since the last CheckTimes.
  Counts vain_of_peer_ ABSL_GUARDED_BY(mutex_);
  Counts vain_of_network_ ABSL_GUARDED_BY(mutex_);
  uint64_t unread_refusals_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t too_many_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::flat_hash_map<RunningCall*, const AdmittedCall*> calls_ ABSL_GUARDED_BY(mutex_);
  bool draining_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace telemetry::call
