#include "server/collector/dataset_service.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/collector/grpc_status.h"
#include "server/collector/message_buffer.h"
#include "server/collector/unary_call.h"

namespace telemetry::collector {
namespace {

constexpr int kQuestionThreads = 2;
constexpr int kExportThreads = 4;
static_assert(kQuestionThreads + kExportThreads == DatasetService::kMostReaders);

// An export that ends before it begins.
class RefusedExport final : public grpc::ServerWriteReactor<grpc::ByteBuffer> {
 public:
  explicit RefusedExport(const absl::Status& why) { Finish(ToGrpc(why)); }

 private:
  void OnDone() override { delete this; }
};

// A call that ends before it begins.
grpc::ServerUnaryReactor* Refuse(grpc::CallbackServerContext* context, const absl::Status& why) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(ToGrpc(why));
  return reactor;
}

// Returns the client that a call counts for: its token's name, else its address without the port.
std::string ClientOf(const access::Caller& caller) {
  if (!caller.name.empty()) return absl::StrCat("token ", caller.name);
  return caller.peer.substr(0, caller.peer.rfind(':'));
}

}  // namespace

DatasetService::DatasetService(ReaderPool& readers, access::Gate& gate, access::RunningCalls& calls,
                               const Options& options)
    : readers_(readers),
      gate_(gate),
      calls_(calls),
      options_(options),
      question_pool_({.threads = kQuestionThreads}),
      export_pool_({.threads = kExportThreads}) {}

template <typename Response, typename Ask>
grpc::ServerUnaryReactor* DatasetService::Answer(grpc::CallbackServerContext* context, const char* method,
                                                 Response* response, Ask ask) {
  const absl::StatusOr<access::Caller> caller = gate_.Admit(*context, method);
  if (!caller.ok()) return Refuse(context, caller.status());
  const std::shared_ptr<UnaryCall> call = UnaryCall::Begin(
      calls_, *caller, method,
      [this, caller = *caller, method](const absl::Status& status) { gate_.LogEnd(caller, method, "", status); });
  UnaryCall* const reactor = call.get();
  const bool waits = question_pool_.Run(ClientOf(*caller), [this, call, response, ask] {
    if (call->has_ended()) return;
    const absl::StatusOr<ReaderPool::Borrowed> reader = readers_.Borrow();
    absl::StatusOr<Response> answer = reader.ok() ? ask(**reader) : reader.status();
    call->Answer(answer.status(), [&answer, response] {
      if (answer.ok()) *response = *std::move(answer);
    });
  });
  if (!waits) call->End(TryAgainLater("too many calls of this client wait", options_.retry_delay));
  return reactor;
}

grpc::ServerUnaryReactor* DatasetService::ListRuns(grpc::CallbackServerContext* context,
                                                   const v1::ListRunsRequest* request, v1::ListRunsResponse* response) {
  return Answer(context, "/telemetry.v1.DatasetService/ListRuns", response,
                [request = *request](storage::StoreReader& reader) { return reader.ListRuns(request); });
}

grpc::ServerUnaryReactor* DatasetService::GetRun(grpc::CallbackServerContext* context, const v1::GetRunRequest* request,
                                                 v1::RunSummary* response) {
  return Answer(context, "/telemetry.v1.DatasetService/GetRun", response,
                [run_id = request->run_id()](storage::StoreReader& reader) { return reader.GetRun(run_id); });
}

grpc::ServerUnaryReactor* DatasetService::ListAttempts(grpc::CallbackServerContext* context,
                                                       const v1::ListAttemptsRequest* request,
                                                       v1::ListAttemptsResponse* response) {
  return Answer(context, "/telemetry.v1.DatasetService/ListAttempts", response,
                [request = *request](storage::StoreReader& reader) { return reader.ListAttempts(request); });
}

grpc::ServerUnaryReactor* DatasetService::GetAttempt(grpc::CallbackServerContext* context,
                                                     const v1::GetAttemptRequest* request,
                                                     v1::AttemptSummary* response) {
  return Answer(context, "/telemetry.v1.DatasetService/GetAttempt", response,
                [id = request->attempt_id()](storage::StoreReader& reader) { return reader.GetAttempt(id); });
}

grpc::ServerUnaryReactor* DatasetService::ListMeasurements(grpc::CallbackServerContext* context,
                                                           const v1::ListMeasurementsRequest* request,
                                                           v1::ListMeasurementsResponse* response) {
  return Answer(context, "/telemetry.v1.DatasetService/ListMeasurements", response,
                [request = *request](storage::StoreReader& reader) { return reader.ListMeasurements(request); });
}

absl::Status DatasetService::AddExport(const std::string& client) {
  const absl::MutexLock lock(&mutex_);
  int& of_client = exports_of_[client];
  if (exports_ >= options_.max_exports || of_client >= options_.max_exports / 2) {
    if (of_client == 0) exports_of_.erase(client);
    return TryAgainLater(absl::StrCat("the collector has ", options_.max_exports, " exports, or half of them for this ",
                                      "client, and takes no more"),
                         options_.retry_delay);
  }
  ++of_client;
  ++exports_;
  return absl::OkStatus();
}

void DatasetService::RemoveExport(const std::string& client) {
  const absl::MutexLock lock(&mutex_);
  --exports_;
  if (const auto of = exports_of_.find(client); --of->second == 0) exports_of_.erase(of);
}

grpc::ServerWriteReactor<grpc::ByteBuffer>* DatasetService::Export(grpc::CallbackServerContext* context,
                                                                   const grpc::ByteBuffer* request) {
  absl::StatusOr<access::Caller> caller = gate_.Admit(*context, ExportCall::kMethod);
  if (!caller.ok()) return new RefusedExport(caller.status());
  ExportCall::Options options = {.caller = *caller, .client = ClientOf(*caller)};
  if (absl::Status status = FromBuffer(*request, &options.request); !status.ok()) return new RefusedExport(status);
  if (absl::Status status = AddExport(options.client); !status.ok()) {
    gate_.LogEnd(*caller, ExportCall::kMethod, "", status);
    return new RefusedExport(status);
  }
  options.on_end = [this, caller = *caller](const absl::Status& status) {
    if (absl::IsDeadlineExceeded(status)) ++overdue_exports_;
    gate_.LogEnd(caller, ExportCall::kMethod, "", status);
  };
  options.on_done = [this, client = options.client] { RemoveExport(client); };
  return ExportCall::Begin({.pool = export_pool_,
                            .readers = readers_,
                            .calls = calls_,
                            .unread_timeout = options_.unread_timeout,
                            .export_timeout = options_.export_timeout},
                           *context, std::move(options));
}

}  // namespace telemetry::collector
