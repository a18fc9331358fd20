#include "tests/client/fake_dataset.h"

#include <algorithm>
#include <utility>

#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server_builder.h"

namespace telemetry::client {
namespace {

bool Selects(const v1::Filter& filter, const v1::Run& run) {
  return (filter.kernel_name().empty() || filter.kernel_name() == run.kernel_name()) &&
         (filter.hardware().empty() || filter.hardware() == run.hardware()) &&
         run.run_id().starts_with(filter.run_id());
}

}  // namespace

FakeDataset::FakeDataset(const std::string& folder) : address_("unix:" + folder + "/dataset.sock") {
  grpc::ServerBuilder builder;
  builder.AddListeningPort(address_, grpc::InsecureServerCredentials());
  builder.RegisterService(this);
  server_ = builder.BuildAndStart();
}

FakeDataset::~FakeDataset() {
  ending_.Notify();
  server_->Shutdown(std::chrono::system_clock::now());
}

void FakeDataset::Add(char digit, const std::string& kernel, const std::string& shapes, const std::string& best_config,
                      double best_perf_ms) {
  v1::RunSummary summary;
  summary.mutable_run()->set_run_id(std::string(64, digit));
  summary.mutable_run()->set_kernel_name(kernel);
  summary.mutable_run()->set_input_shapes(shapes);
  summary.mutable_run()->set_dtypes("['torch.float32']");
  summary.mutable_run()->set_hardware("H");
  if (!best_config.empty()) {
    summary.set_best_config(best_config);
    summary.set_best_perf_ms(best_perf_ms);
    summary.set_best_is_final(true);
  }
  Add(std::move(summary));
}

void FakeDataset::Add(v1::RunSummary summary) {
  const absl::MutexLock lock(&mutex_);
  const std::string id = summary.run().run_id();
  runs_[id] = std::move(summary);
}

void FakeDataset::AddExport(const std::string& run_id, std::vector<v1::ExportItem> items) {
  const absl::MutexLock lock(&mutex_);
  exports_[run_id] = std::move(items);
}

void FakeDataset::SetLargestPage(int size) {
  const absl::MutexLock lock(&mutex_);
  largest_page_ = size;
}

void FakeDataset::Hang() {
  const absl::MutexLock lock(&mutex_);
  hangs_ = true;
}

int FakeDataset::calls() const {
  const absl::MutexLock lock(&mutex_);
  return calls_;
}

void FakeDataset::BeginCall() {
  bool hangs = false;
  {
    const absl::MutexLock lock(&mutex_);
    ++calls_;
    hangs = hangs_;
  }
  if (hangs) ending_.WaitForNotification();
}

grpc::Status FakeDataset::ListRuns(grpc::ServerContext* /*context*/, const v1::ListRunsRequest* request,
                                   v1::ListRunsResponse* response) {
  BeginCall();
  const absl::MutexLock lock(&mutex_);
  const int size = std::min(request->page_size(), largest_page_);
  for (auto run = runs_.upper_bound(request->page_token()); run != runs_.end(); ++run) {
    if (!Selects(request->filter(), run->second.run())) continue;
    if (response->runs_size() == size) {
      response->set_next_page_token(response->runs(size - 1).run().run_id());
      break;
    }
    *response->add_runs() = run->second;
  }
  return grpc::Status::OK;
}

grpc::Status FakeDataset::GetRun(grpc::ServerContext* /*context*/, const v1::GetRunRequest* request,
                                 v1::RunSummary* response) {
  BeginCall();
  const absl::MutexLock lock(&mutex_);
  const auto found = runs_.find(request->run_id());
  if (found == runs_.end()) return {grpc::StatusCode::NOT_FOUND, "no such run"};
  *response = found->second;
  return grpc::Status::OK;
}

grpc::Status FakeDataset::Export(grpc::ServerContext* /*context*/, const v1::ExportRequest* request,
                                 grpc::ServerWriter<v1::ExportItem>* writer) {
  BeginCall();
  const absl::MutexLock lock(&mutex_);
  for (const v1::ExportItem& item : exports_[request->filter().run_id()]) writer->Write(item);
  return grpc::Status::OK;
}

}  // namespace telemetry::client
