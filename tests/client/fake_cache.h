#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "grpcpp/server.h"
#include "telemetry/v1/cache.grpc.pb.h"

namespace telemetry::client {

// A CacheService with entries in memory, listening on a socket in `folder`. Gets and lists ignore hardware and senders.
// Thread-safe.
class FakeCache final : public v1::CacheService::Service {
 public:
  explicit FakeCache(const std::string& folder);
  ~FakeCache() override;

  const std::string& address() const { return address_; }
  // Leaves later calls unanswered.
  void Hang();
  // Later puts fail with this status.
  void RefusePuts(const grpc::Status& status);
  int calls() const;
  // Returns the entries, the newest last.
  std::vector<v1::CacheEntry> entries() const;

 private:
  grpc::Status Get(grpc::ServerContext* context, const v1::GetCacheRequest* request, v1::CacheEntry* response) override;
  grpc::Status Put(grpc::ServerContext* context, const v1::PutCacheRequest* request,
                   v1::PutCacheResponse* response) override;
  grpc::Status List(grpc::ServerContext* context, const v1::ListCacheRequest* request,
                    v1::ListCacheResponse* response) override;
  void BeginCall() ABSL_LOCKS_EXCLUDED(mutex_);

  const std::string address_;
  std::unique_ptr<grpc::Server> server_;
  absl::Notification ending_;

  mutable absl::Mutex mutex_;
  std::vector<v1::CacheEntry> entries_ ABSL_GUARDED_BY(mutex_);
  grpc::Status put_status_ ABSL_GUARDED_BY(mutex_);
  int calls_ ABSL_GUARDED_BY(mutex_) = 0;
  bool hangs_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace telemetry::client
