#pragma once

#include <atomic>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/access/gate.h"
#include "server/collector/reader_pool.h"
#include "server/collector/thread_pool.h"
#include "telemetry/v1/dataset.grpc.pb.h"

namespace telemetry::collector {

// DatasetService as dataset.proto documents it. Each call borrows a reader, on threads of its own: short questions do
// not wait behind exports, and neither holds up the ingest.
class DatasetService final : public v1::DatasetService::CallbackService {
 public:
  // No more readers are borrowed at once.
  static constexpr int kMostReaders = 6;

  // `readers` and `gate` outlive the service. A client that reads nothing of its export for `unread_timeout` is cut
  // off.
  DatasetService(ReaderPool& readers, access::Gate& gate, absl::Duration unread_timeout);

  // Exports that were cut off so far.
  uint64_t unread_exports() const { return unread_exports_; }

  // Running exports end with UNAVAILABLE at their next item.
  void Drain() { draining_ = true; }

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
  grpc::ServerWriteReactor<v1::ExportItem>* Export(grpc::CallbackServerContext* context,
                                                   const v1::ExportRequest* request) override;

  // Answers a call of a unary method, when it is admitted, with what `ask` makes of a reader.
  template <typename Response, typename Ask>
  grpc::ServerUnaryReactor* Answer(grpc::CallbackServerContext* context, const char* method, Response* response,
                                   Ask ask);
  template <typename Response, typename Ask>
  absl::Status AnswerInto(Response* response, Ask ask);

  ReaderPool& readers_;
  access::Gate& gate_;
  const absl::Duration unread_timeout_;
  std::atomic<uint64_t> unread_exports_ = 0;
  std::atomic<bool> draining_ = false;
  ThreadPool questions_;
  ThreadPool exports_;
};

}  // namespace telemetry::collector
