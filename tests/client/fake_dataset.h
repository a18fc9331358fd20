#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "grpcpp/server.h"
#include "telemetry/v1/dataset.grpc.pb.h"

namespace telemetry::client {

// A DatasetService over a dataset in memory, listening on a socket in `folder`. Thread-safe.
class FakeDataset final : public v1::DatasetService::Service {
 public:
  explicit FakeDataset(const std::string& folder);
  ~FakeDataset() override;

  const std::string& address() const { return address_; }

  // Adds a run on hardware "H" with an id of 64 times `digit`. Its best row is final. An empty `best_config` means that
  // the run has no best row.
  void Add(char digit, const std::string& kernel, const std::string& shapes, const std::string& best_config,
           double best_perf_ms);
  void Add(v1::RunSummary summary);
  // Sets the items that Export() sends for a run, in their order. By default it sends none.
  void AddExport(const std::string& run_id, std::vector<v1::ExportItem> items);
  void SetLargestPage(int size);
  // Leaves later calls unanswered.
  void Hang();
  int calls() const;

 private:
  grpc::Status ListRuns(grpc::ServerContext* context, const v1::ListRunsRequest* request,
                        v1::ListRunsResponse* response) override;
  grpc::Status GetRun(grpc::ServerContext* context, const v1::GetRunRequest* request,
                      v1::RunSummary* response) override;
  grpc::Status Export(grpc::ServerContext* context, const v1::ExportRequest* request,
                      grpc::ServerWriter<v1::ExportItem>* writer) override;
  void BeginCall() ABSL_LOCKS_EXCLUDED(mutex_);

  const std::string address_;
  std::unique_ptr<grpc::Server> server_;
  absl::Notification ending_;

  mutable absl::Mutex mutex_;
  std::map<std::string, v1::RunSummary> runs_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, std::vector<v1::ExportItem>> exports_ ABSL_GUARDED_BY(mutex_);
  int largest_page_ ABSL_GUARDED_BY(mutex_) = 1000;
  int calls_ ABSL_GUARDED_BY(mutex_) = 0;
  bool hangs_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace telemetry::client
