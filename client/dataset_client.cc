#include "client/dataset_client.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "grpcpp/grpcpp.h"
#include "proto/base/status_macros.h"

namespace telemetry::client {
namespace {

constexpr size_t kLargestPage = 1000;    // dataset.proto
constexpr int kLargestBytes = 64 << 20;  // a run may have 8 MiB, and a page holds several runs

std::unique_ptr<v1::DatasetService::Stub> ConnectToDataset(const std::string& collector,
                                                           const access::Connection& connection) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kLargestBytes);
  // Uses a connection of its own, which does not wait for another connection's back-off to end.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return v1::DatasetService::NewStub(grpc::CreateCustomChannel(collector, connection.channel_credentials(), arguments));
}

absl::Status Named(const absl::Status& status, const std::string& collector) {
  if (status.ok()) return status;
  return {status.code(), absl::StrCat("collector ", collector, ": ", status.message())};
}

// The connection and the deadline that the calls of one query share.
struct DatasetSession {
  access::Connection connection;
  std::unique_ptr<v1::DatasetService::Stub> stub;
  std::chrono::system_clock::time_point deadline;

  static absl::StatusOr<DatasetSession> Open(const DatasetClientOptions& options) {
    const auto deadline = absl::ToChronoTime(absl::Now() + options.deadline);
    ASSIGN_OR_RETURN(access::Connection connection,
                     access::Connection::Prepare(options.credentials, options.collector));
    auto stub = ConnectToDataset(options.collector, connection);
    return DatasetSession{std::move(connection), std::move(stub), deadline};
  }
  void Prepare(grpc::ClientContext* context) const {
    context->set_deadline(deadline);
    connection.Authorize(context);
  }
};

}  // namespace

absl::StatusOr<std::vector<v1::RunSummary>> DatasetClient::ListRuns(const v1::Filter& filter, size_t limit) {
  ASSIGN_OR_RETURN(const DatasetSession session, DatasetSession::Open(options_));
  std::vector<v1::RunSummary> runs;
  v1::ListRunsRequest request;
  *request.mutable_filter() = filter;
  while (runs.size() < limit) {
    request.set_page_size(static_cast<int32_t>(std::min(limit - runs.size(), kLargestPage)));
    grpc::ClientContext context;
    session.Prepare(&context);
    v1::ListRunsResponse response;
    const grpc::Status status = session.stub->ListRuns(&context, request, &response);
    if (!status.ok()) return Named(session.connection.CallStatus(status), options_.collector);
    std::move(response.mutable_runs()->begin(), response.mutable_runs()->end(), std::back_inserter(runs));
    if (response.next_page_token().empty()) break;
    request.set_page_token(response.next_page_token());
  }
  return runs;
}

absl::StatusOr<v1::RunSummary> DatasetClient::GetRun(const std::string& run_id) {
  ASSIGN_OR_RETURN(const DatasetSession session, DatasetSession::Open(options_));
  grpc::ClientContext context;
  session.Prepare(&context);
  v1::GetRunRequest request;
  request.set_run_id(run_id);
  v1::RunSummary run;
  const grpc::Status status = session.stub->GetRun(&context, request, &run);
  if (!status.ok()) return Named(session.connection.CallStatus(status), options_.collector);
  return run;
}

absl::Status DatasetClient::Export(const v1::ExportRequest& request,
                                   const std::function<absl::Status(const v1::ExportItem&)>& take) {
  ASSIGN_OR_RETURN(const DatasetSession session, DatasetSession::Open(options_));
  grpc::ClientContext context;
  session.Prepare(&context);
  const std::unique_ptr<grpc::ClientReader<v1::ExportItem>> reader = session.stub->Export(&context, request);
  v1::ExportItem item;
  while (reader->Read(&item)) {
    absl::Status status = take(item);
    if (status.ok()) continue;
    context.TryCancel();
    reader->Finish();
    return status;
  }
  return Named(session.connection.CallStatus(reader->Finish()), options_.collector);
}

}  // namespace telemetry::client
