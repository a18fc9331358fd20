#pragma once

#include <grpcpp/health_check_service_interface.h>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace telemetry::collector {

// The serving status that the health service reports. Ingest is serving while the disk has room, the dataset can be
// reached and the token file is readable; the dataset service while the dataset can be reached and the token file is
// readable. Thread-safe.
class ServingHealth {
 public:
  // Starts reporting to `service`, which must live until End.
  void Begin(grpc::HealthCheckServiceInterface* service) ABSL_LOCKS_EXCLUDED(mutex_);
  // Reports that nothing is served. Later changes have no effect.
  void End() ABSL_LOCKS_EXCLUDED(mutex_);

  void SetHasRoom(bool has_room) ABSL_LOCKS_EXCLUDED(mutex_);
  void SetReachable(bool is_reachable) ABSL_LOCKS_EXCLUDED(mutex_);
  void SetLetsIn(bool lets_in) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Say(bool ingest, bool dataset) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void SayWhatIs() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const bool answers = is_reachable_ && lets_in_;
    Say(has_room_ && answers, answers);
  }

  absl::Mutex mutex_;
  grpc::HealthCheckServiceInterface* service_ ABSL_GUARDED_BY(mutex_) = nullptr;  // nullptr: before Begin, after End
  bool has_room_ ABSL_GUARDED_BY(mutex_) = true;
  bool is_reachable_ ABSL_GUARDED_BY(mutex_) = true;
  bool lets_in_ ABSL_GUARDED_BY(mutex_) = true;
};

}  // namespace telemetry::collector
