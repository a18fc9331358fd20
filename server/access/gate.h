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
#include "proto/base/steady.h"
#include "server/access/token_watch.h"

namespace telemetry::access {

// The caller of a method.
struct Caller {
  std::string peer;         // address, as gRPC formats it
  std::string certificate;  // name in the TLS certificate; empty: the client presented none
  std::string token_id;     // empty: the collector or the method requires no token
  std::string name;         // name of the token
  bool is_admin = false;    // the token has the role admin
  std::string request_id;   // id of the call, which the caller also receives
};

// A rate limit for log lines that counts the omitted lines. Thread-safe.
class LogLimit {
 public:
  // Returns true if a line may be written now. In this case sets `left_out` to the number of lines omitted since the
  // last one.
  bool Take(SteadyTime now, uint64_t* left_out) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  absl::Mutex mutex_;
  std::optional<SteadyTime> window_ ABSL_GUARDED_BY(mutex_);
  int taken_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t left_out_ ABSL_GUARDED_BY(mutex_) = 0;
};

// The access check that every call passes first. Logs admitted and refused calls with address, certificate, id and name
// of the token, method, reason and call id, but never the token. Thread-safe.
class Gate {
 public:
  // `tokens` must outlive the gate. nullptr: the collector uses no tokens, and every caller may do everything except
  // delete.
  explicit Gate(const TokenWatch* tokens) : tokens_(tokens) {}

  // Assigns an id to the call, sends the id to the caller and authorizes the call. `method`: "/package.Service/Method".
  // Errors: those of Authorize and TokenWatch::CheckReadable.
  absl::StatusOr<Caller> Admit(grpc::ServerContext& context, std::string_view method);
  // Returns OK if the caller may send records of the producer (16 bytes). `method` as above and `client`, the name that
  // the client gives itself, are logged. Errors: those of AuthorizeProducer; UNAUTHENTICATED if the token is no longer
  // valid.
  absl::Status AdmitProducer(const Caller& caller, std::string_view method, std::string_view producer_id,
                             std::string_view client);
  // Returns OK if an admitted call of `method` may continue. UNAUTHENTICATED: the token has expired or was revoked.
  // PERMISSION_DENIED: the token lost the role.
  absl::Status Recheck(const Caller& caller, std::string_view method) const;

  // Logs a call that ended with an error. `producer_id`: the producer of the call; empty: none.
  void LogEnd(const Caller& caller, std::string_view method, std::string_view producer_id, const absl::Status& status);

  // The numbers of calls refused so far.
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
