#pragma once

#include <grpcpp/health_check_service_interface.h>

#include <list>
#include <map>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/call/raw_service.h"

namespace telemetry::collector {

// The standard service grpc.health.v1.Health. gRPC's own implementation limits neither the number of calls nor their
// time, and every client may call it without a token. Thread-safe.
class HealthService final : public call::RawService, public grpc::HealthCheckServiceInterface {
 public:
  // A call whose request does not arrive within `open_timeout` ends with DEADLINE_EXCEEDED. `calls` must outlive the
  // service.
  HealthService(call::RunningCalls& calls, absl::Duration open_timeout);
  ~HealthService() override;

  void SetServingStatus(const std::string& service, bool is_serving) override ABSL_LOCKS_EXCLUDED(mutex_);
  void SetServingStatus(bool is_serving) override ABSL_LOCKS_EXCLUDED(mutex_);
  // Sets every status to NOT_SERVING and ends every call with UNAVAILABLE, including later ones.
  void Shutdown() override ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  // The values of grpc.health.v1.HealthCheckResponse.ServingStatus.
  enum Status : char { kUnknown = 0, kServing = 1, kNotServing = 2, kServiceUnknown = 3 };
  class Call;

  void Add(Call* call) ABSL_LOCKS_EXCLUDED(mutex_);
  void Remove(Call* call) ABSL_LOCKS_EXCLUDED(mutex_);
  Status FindStatus(const std::string& service) const ABSL_LOCKS_EXCLUDED(mutex_);
  void TellWatches() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const absl::Duration open_timeout_;
  // Acquired before the mutex of a call.
  mutable absl::Mutex mutex_;
  bool is_shut_down_ ABSL_GUARDED_BY(mutex_) = false;
  std::map<std::string, Status> statuses_ ABSL_GUARDED_BY(mutex_);
  std::list<Call*> calls_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace telemetry::collector
