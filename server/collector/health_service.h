#pragma once

#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/impl/service_type.h>
#include <grpcpp/support/server_callback.h>

#include <cstdint>
#include <list>
#include <map>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "proto/clock/steady.h"

namespace telemetry::collector {

// The standard service grpc.health.v1.Health. gRPC's own one has neither a limit for calls nor for their time, and
// anyone may call it without a token. Both methods are streams here, so that a call counts from its first byte and not
// from when its message is there; on the wire that is the same. Thread-safe.
class HealthService final : public grpc::Service, public grpc::HealthCheckServiceInterface {
 public:
  // Calls of both methods at a time: in total and from one address. More end with RESOURCE_EXHAUSTED.
  static constexpr uint64_t kMaxCalls = 1024;
  static constexpr uint64_t kMaxCallsPerAddress = 256;

  // A call whose message is not there after `open_timeout` ends with DEADLINE_EXCEEDED.
  explicit HealthService(absl::Duration open_timeout);
  ~HealthService() override;

  void SetServingStatus(const std::string& service, bool is_serving) override ABSL_LOCKS_EXCLUDED(mutex_);
  void SetServingStatus(bool is_serving) override ABSL_LOCKS_EXCLUDED(mutex_);
  // Says that nothing is served and ends every Watch with UNAVAILABLE.
  void Shutdown() override ABSL_LOCKS_EXCLUDED(mutex_);
  // Ends the calls whose time is over. To be called again and again.
  void CheckTimes(SteadyTime now) ABSL_LOCKS_EXCLUDED(mutex_);

  uint64_t calls() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  // The numbers of grpc.health.v1.HealthCheckResponse.ServingStatus.
  enum Status : char { kUnknown = 0, kServing = 1, kNotServing = 2, kServiceUnknown = 3 };
  class Call;

  // Returns the reactor of a new call.
  Call* Begin(grpc::CallbackServerContext& context, bool is_watch) ABSL_LOCKS_EXCLUDED(mutex_);
  void End(Call& call) ABSL_LOCKS_EXCLUDED(mutex_);
  Status StatusOf(const std::string& service) const ABSL_LOCKS_EXCLUDED(mutex_);
  void TellWatches() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const absl::Duration open_timeout_;
  // Before the mutex of a call.
  mutable absl::Mutex mutex_;
  bool is_shut_down_ ABSL_GUARDED_BY(mutex_) = false;
  std::map<std::string, Status> statuses_ ABSL_GUARDED_BY(mutex_);
  std::list<Call*> calls_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, uint64_t> calls_of_address_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace telemetry::collector
