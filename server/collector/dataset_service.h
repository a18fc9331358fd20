#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/access/gate.h"
#include "server/access/running_calls.h"
#include "server/collector/export_call.h"
#include "server/collector/fair_pool.h"
#include "server/collector/reader_pool.h"
#include "telemetry/v1/dataset.grpc.pb.h"

namespace telemetry::collector {

// DatasetService as dataset.proto documents it. Calls borrow readers on threads of the service's own, and clients take
// turns: short questions do not wait behind exports, and neither holds up the ingest. A client is a token's name, or
// where there are no tokens an address.
class DatasetService final
    : public v1::DatasetService::WithRawCallbackMethod_Export<v1::DatasetService::CallbackService> {
 public:
  // No more readers are borrowed at once.
  static constexpr int kMostReaders = 6;

  struct Options {
    absl::Duration unread_timeout = absl::InfiniteDuration();
    absl::Duration export_timeout = absl::InfiniteDuration();
    absl::Duration retry_delay = absl::Seconds(1);
    // In all, and half of it of one client.
    int max_exports = 64;
  };

  // `readers`, `gate` and `calls` outlive the service.
  DatasetService(ReaderPool& readers, access::Gate& gate, access::RunningCalls& calls, const Options& options);

  // Exports that took too long, or whose clients did, so far.
  uint64_t overdue_exports() const { return overdue_exports_; }

 private:
  grpc::ServerUnaryReactor* ListRuns(grpc::CallbackServerContext* context, const v1::ListRunsRequest* request,
                                     v1::ListRunsResponse* response) override;
  grpc::ServerUnaryReactor* GetRun(grpc::CallbackServerContext* context, const v1::GetRunRequest* request,
                                   v1::RunSummary* response) override;
  grpc::ServerUnaryReactor* ListAttempts(grpc::CallbackServerContext* context, const v1::ListAttemptsRequest* request,
                                         v1::ListAttemptsResponse* response) override;
  grpc::ServerUnaryReactor* GetAttempt(grpc::CallbackServerContext* context, const v1::GetAttemptRequest* request,
                                       v1::AttemptSummary* response) override;
  grpc::ServerUnaryReactor* ListMeasurements(grpc::CallbackServerContext* context,
                                             const v1::ListMeasurementsRequest* request,
                                             v1::ListMeasurementsResponse* response) override;
  grpc::ServerWriteReactor<grpc::ByteBuffer>* Export(grpc::CallbackServerContext* context,
                                                     const grpc::ByteBuffer* request) override;

  // Answers a unary call, if it is admitted, with the result of ask(reader). `ask` owns its copy of the request, since
  // the call may end before `ask` runs.
  template <typename Response, typename Ask>
  grpc::ServerUnaryReactor* Answer(grpc::CallbackServerContext* context, const char* method, Response* response,
                                   Ask ask);
  // Counts one more export of a client. RESOURCE_EXHAUSTED with RetryInfo: there are too many.
  absl::Status AddExport(const std::string& client) ABSL_LOCKS_EXCLUDED(mutex_);
  void RemoveExport(const std::string& client) ABSL_LOCKS_EXCLUDED(mutex_);

  ReaderPool& readers_;
  access::Gate& gate_;
  access::RunningCalls& calls_;
  const Options options_;
  std::atomic<uint64_t> overdue_exports_ = 0;
  absl::Mutex mutex_;
  absl::flat_hash_map<std::string, int> exports_of_ ABSL_GUARDED_BY(mutex_);
  int exports_ ABSL_GUARDED_BY(mutex_) = 0;
  FairPool question_pool_;
  FairPool export_pool_;
};

}  // namespace telemetry::collector
