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
#include "proto/clock/steady.h"
#include "server/access/gate.h"
#include "server/call/sender_shares.h"
#include "server/net/network.h"
#include "server/net/receive_meter.h"

namespace telemetry::collector {

// A call that can be ended from outside. None of the methods blocks.
class RunningCall {
 public:
  // Ends the call with this status at once, unless it has ended.
  virtual void End(absl::Status status) = 0;
  // Ends the call if it, or its client, takes too long.
  virtual void CheckTime(SteadyTime now) = 0;
  // Ends the call if it would go on for long: the server is shutting down.
  virtual void Drain() {}

 protected:
  ~RunningCall() = default;
};

// Each kind has limits of its own, so that no kind keeps another one out.
enum class CallKind { kHealth, kExport, kOther };

// A call that was let in and counted. `method` is a literal.
struct AdmittedCall {
  grpc::ServerContext& context;
  access::Caller caller;
  std::string_view method;
  CallKind kind;
  std::string sender;
  std::optional<net::Peer> peer;  // nothing: no connection of the port
};

// The calls of all services, which count from their headers until gRPC is done with them. Thread-safe. Calls are ended
// under the registry's lock, so that one which has removed itself is never touched again; a call must not call in here
// while it holds a lock that its methods take.
class RunningCalls {
 public:
  struct Limits {
    uint64_t exports = 64;
    uint64_t others = 2048;
    // gRPC holds clients to a limit, but only once they say that they know it.
    uint64_t calls_per_connection = 32;
    absl::Duration retry_delay = absl::Seconds(1);
    // Called with the peer of a connection that floods the collector with calls: it has begun more than
    // calls_per_connection at a time; between two calls of CheckTimes kMaxRefusals of its calls were refused, or
    // kMaxRefusalsOfNetwork of its network's and one of its own; or one was while clients have not read
    // kMaxUnreadRefusals. Does not block.
    std::function<void(const std::string& peer)> on_flood;
  };
  static constexpr uint64_t kMaxRefusals = 64;
  static constexpr uint64_t kMaxRefusalsOfNetwork = 256;
  static constexpr uint64_t kMaxUnreadRefusals = 1024;
  static constexpr uint64_t kMaxHealthCalls = 1024;
  static constexpr uint64_t kMaxHealthCallsPerSender = 256;

  // `gate` and `meter` outlive the registry.
  RunningCalls(access::Gate& gate, net::ReceiveMeter& meter, const Limits& limits)
      : gate_(gate),
        meter_(meter),
        limits_(limits),
        exports_(limits.exports),
        others_(limits.others, limits.others * 3 / 4) {}

  // Lets a call in and counts it, for Add. Errors as Gate::Admit; RESOURCE_EXHAUSTED with RetryInfo: too many calls of
  // this kind are running, in total or of this sender.
  absl::StatusOr<AdmittedCall> Admit(grpc::ServerContext& context, std::string_view method, CallKind kind)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Counts a call of this peer from its headers until gRPC is done with it, admitted or refused.
  void AddBeginning(const std::string& peer) ABSL_LOCKS_EXCLUDED(mutex_);
  void AddEnd(const std::string& peer) ABSL_LOCKS_EXCLUDED(mutex_);
  // Counts a call of this peer that is refused, and that gRPC keeps until the client has read the refusal.
  void AddRefusal(const std::string& peer) ABSL_LOCKS_EXCLUDED(mutex_);
  void RemoveRefusal() ABSL_LOCKS_EXCLUDED(mutex_);
  // Registers a call that was admitted; `admitted` lives until Remove. During a drain the call is drained at once.
  void Add(RunningCall* call, const AdmittedCall& admitted) ABSL_LOCKS_EXCLUDED(mutex_);
  void Remove(RunningCall* call) ABSL_LOCKS_EXCLUDED(mutex_);
  // A message of the call is there whole.
  void AddMessage(const AdmittedCall& call, const grpc::ByteBuffer& message);

  // Returns how many calls to this method are running.
  uint64_t CountOf(std::string_view method) const ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns how many calls were refused so far because too many were running.
  uint64_t too_many() const ABSL_LOCKS_EXCLUDED(mutex_);

  // Ends the calls whose tokens have expired or were revoked, or lost their role.
  void Recheck() ABSL_LOCKS_EXCLUDED(mutex_);
  void CheckTimes(SteadyTime now) ABSL_LOCKS_EXCLUDED(mutex_);
  // Drains all calls, also those that begin later.
  void Drain() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  SenderShares& SharesOf(CallKind kind) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Count(CallKind kind, const std::string& sender) ABSL_LOCKS_EXCLUDED(mutex_);

  access::Gate& gate_;
  net::ReceiveMeter& meter_;
  const Limits limits_;
  mutable absl::Mutex mutex_;
  SenderShares health_ ABSL_GUARDED_BY(mutex_) = SenderShares(kMaxHealthCalls, kMaxHealthCallsPerSender);
  SenderShares exports_ ABSL_GUARDED_BY(mutex_);
  SenderShares others_ ABSL_GUARDED_BY(mutex_);
  using Counts = absl::flat_hash_map<std::string, uint64_t>;
  Counts begun_ ABSL_GUARDED_BY(mutex_);  // by peer, and not ended yet
  // Since the last CheckTimes.
  Counts refused_of_peer_ ABSL_GUARDED_BY(mutex_);
  Counts refused_of_network_ ABSL_GUARDED_BY(mutex_);
  uint64_t unread_refusals_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t too_many_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::flat_hash_map<RunningCall*, const AdmittedCall*> calls_ ABSL_GUARDED_BY(mutex_);
  bool draining_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace telemetry::collector
