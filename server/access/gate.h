#pragma once

#include <grpcpp/server_context.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "proto/clock/steady.h"
#include "server/access/token_watch.h"

namespace telemetry::access {

// Who makes a call.
struct Caller {
  std::string peer;         // its address
  std::string certificate;  // the name in its TLS certificate; empty: it showed none
  std::string token_id;     // empty: no tokens are asked for here
  std::string name;         // the token's
  std::string request_id;   // the call's, as its caller knows it
};

// Lets at most so many lines a second through, and counts the others. Thread-safe.
class LogLimit {
 public:
  // Whether a line may be written now; `left_out`: how many were not since the last one.
  bool Take(SteadyTime now, uint64_t* left_out) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  absl::Mutex mutex_;
  std::optional<SteadyTime> window_ ABSL_GUARDED_BY(mutex_);
  int taken_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t left_out_ ABSL_GUARDED_BY(mutex_) = 0;
};

// What every call passes first. Whoever is let in or turned away is logged: address, certificate, the token's id and
// name, method, reason and the call's id; never the token. Thread-safe.
class Gate {
 public:
  // `tokens` outlives the gate. nullptr: there are none, and everyone may do everything but delete.
  explicit Gate(const TokenWatch* tokens) : tokens_(tokens) {}

  // Gives the call its id, and tells it to the caller. Errors as Authorize and TokenWatch::CheckReadable. `method`:
  // "/package.Service/Method".
  absl::StatusOr<Caller> Admit(grpc::ServerContext& context, std::string_view method);
  // Whether the caller may speak for the producer (16 bytes). Errors as AuthorizeProducer; UNAUTHENTICATED: its token
  // is not valid any more. `method` as above, for the log; `client`: what it calls itself.
  absl::Status AdmitProducer(const Caller& caller, std::string_view method, std::string_view producer_id,
                             std::string_view client);
  // Whether a call to `method` that was admitted may go on. UNAUTHENTICATED: the token has expired or was revoked;
  // PERMISSION_DENIED: it lost its role.
  absl::Status Recheck(const Caller& caller, std::string_view method) const;

  // Logs a call that ended otherwise than well. `producer_id`: whom it spoke for; empty: nobody.
  void LogEnd(const Caller& caller, std::string_view method, std::string_view producer_id, const absl::Status& status);

  // How many calls were turned away so far.
  struct Refusals {
    uint64_t unauthenticated = 0;
    uint64_t permission_denied = 0;
    uint64_t tokens_unreadable = 0;
  };
  Refusals refusals() const { return {unauthenticated_, permission_denied_, tokens_unreadable_}; }

 private:
  void CountRefusal(const Caller& caller, std::string_view method, const absl::Status& why);

  const TokenWatch* const tokens_;
  LogLimit refusal_lines_;
  LogLimit admission_lines_;
  LogLimit end_lines_;
  std::atomic<uint64_t> unauthenticated_ = 0;
  std::atomic<uint64_t> permission_denied_ = 0;
  std::atomic<uint64_t> tokens_unreadable_ = 0;
};

}  // namespace telemetry::access
