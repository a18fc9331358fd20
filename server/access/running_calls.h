#pragma once

#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "proto/clock/steady.h"
#include "server/access/gate.h"

namespace telemetry::access {

// A call that was let in and can be ended from outside. None of the methods blocks.
class RunningCall {
 public:
  // Ends it with this status as soon as it can, unless it has ended.
  virtual void End(absl::Status status) = 0;
  // Ends it if it, or its client, takes too long.
  virtual void CheckTime(SteadyTime /*now*/) {}
  // Ends it if it would go on for long: the server is shutting down.
  virtual void Drain() {}

 protected:
  ~RunningCall() = default;
};

// The calls that were let in and have not ended. Thread-safe. Calls are ended under the registry's lock, so that one
// which has removed itself is never touched again; a call must not call in here while it holds a lock that its methods
// take.
class RunningCalls {
 public:
  // `gate` outlives the registry.
  explicit RunningCalls(const Gate& gate) : gate_(gate) {}

  // `caller` was admitted to `method`, a literal.
  void Add(RunningCall* call, const Caller& caller, std::string_view method) ABSL_LOCKS_EXCLUDED(mutex_);
  void Remove(RunningCall* call) ABSL_LOCKS_EXCLUDED(mutex_);

  // Ends the calls whose tokens have expired or were revoked, or lost their role.
  void Recheck() ABSL_LOCKS_EXCLUDED(mutex_);
  void CheckTimes(SteadyTime now) ABSL_LOCKS_EXCLUDED(mutex_);
  void Drain() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Admission {
    Caller caller;
    std::string_view method;
  };

  const Gate& gate_;
  absl::Mutex mutex_;
  absl::flat_hash_map<RunningCall*, Admission> calls_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace telemetry::access
