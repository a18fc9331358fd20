#include "server/collector/dataset_service.h"

#include <utility>

#include "server/collector/export_call.h"
#include "server/collector/grpc_status.h"

namespace telemetry::collector {
namespace {

constexpr int kQuestionThreads = 2;
constexpr int kExportThreads = 4;
static_assert(kQuestionThreads + kExportThreads == DatasetService::kMostReaders);

// An export that ends before it begins.
class RefusedExport final : public grpc::ServerWriteReactor<v1::ExportItem> {
 public:
  explicit RefusedExport(const absl::Status& why) { Finish(ToGrpc(why)); }

 private:
  void OnDone() override { delete this; }
};

}  // namespace

DatasetService::DatasetService(ReaderPool& readers, access::Gate& gate, absl::Duration unread_timeout)
    : readers_(readers),
      gate_(gate),
      unread_timeout_(unread_timeout),
      questions_(kQuestionThreads),
      exports_(kExportThreads) {}

template <typename Response, typename Ask>
absl::Status DatasetService::AnswerInto(Response* response, Ask ask) {
  const absl::StatusOr<ReaderPool::Borrowed> reader = readers_.Borrow();
  if (!reader.ok()) return reader.status();
  absl::StatusOr<Response> answer = ask(**reader);
  if (!answer.ok()) return answer.status();
  *response = *std::move(answer);
  return absl::OkStatus();
}

template <typename Response, typename Ask>
grpc::ServerUnaryReactor* DatasetService::Answer(grpc::CallbackServerContext* context, const char* method,
                                                 Response* response, Ask ask) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  const absl::StatusOr<access::Caller> caller = gate_.Admit(*context, method);
  if (!caller.ok()) {
    reactor->Finish(ToGrpc(caller.status()));
    return reactor;
  }
  questions_.Run([this, caller = *caller, method, reactor, response, ask] {
    const absl::Status status = AnswerInto(response, ask);
    gate_.LogEnd(caller, method, "", status);
    reactor->Finish(ToGrpc(status));
  });
  return reactor;
}

grpc::ServerUnaryReactor* DatasetService::ListRuns(grpc::CallbackServerContext* context,
                                                   const v1::ListRunsRequest* request, v1::ListRunsResponse* response) {
  return Answer(context, "/telemetry.v1.DatasetService/ListRuns", response,
                [request](storage::StoreReader& reader) { return reader.ListRuns(*request); });
}

grpc::ServerUnaryReactor* DatasetService::GetRun(grpc::CallbackServerContext* context, const v1::GetRunRequest* request,
                                                 v1::RunSummary* response) {
  return Answer(context, "/telemetry.v1.DatasetService/GetRun", response,
                [request](storage::StoreReader& reader) { return reader.GetRun(request->run_id()); });
}

grpc::ServerUnaryReactor* DatasetService::ListAttempts(grpc::CallbackServerContext* context,
                                                       const v1::ListAttemptsRequest* request,
                                                       v1::ListAttemptsResponse* response) {
  return Answer(context, "/telemetry.v1.DatasetService/ListAttempts", response,
                [request](storage::StoreReader& reader) { return reader.ListAttempts(*request); });
}

grpc::ServerUnaryReactor* DatasetService::GetAttempt(grpc::CallbackServerContext* context,
                                                     const v1::GetAttemptRequest* request,
                                                     v1::AttemptSummary* response) {
  return Answer(context, "/telemetry.v1.DatasetService/GetAttempt", response,
                [request](storage::StoreReader& reader) { return reader.GetAttempt(request->attempt_id()); });
}

grpc::ServerUnaryReactor* DatasetService::ListMeasurements(grpc::CallbackServerContext* context,
                                                           const v1::ListMeasurementsRequest* request,
                                                           v1::ListMeasurementsResponse* response) {
  return Answer(context, "/telemetry.v1.DatasetService/ListMeasurements", response,
                [request](storage::StoreReader& reader) { return reader.ListMeasurements(*request); });
}

grpc::ServerWriteReactor<v1::ExportItem>* DatasetService::Export(grpc::CallbackServerContext* context,
                                                                 const v1::ExportRequest* request) {
  static constexpr char kMethod[] = "/telemetry.v1.DatasetService/Export";
  const absl::StatusOr<access::Caller> caller = gate_.Admit(*context, kMethod);
  if (!caller.ok()) return new RefusedExport(caller.status());
  const auto on_end = [this, caller = *caller](const absl::Status& status) {
    if (absl::IsDeadlineExceeded(status)) ++unread_exports_;
    gate_.LogEnd(caller, kMethod, "", status);
  };
  auto* call = new ExportCall(*context, *request, draining_, unread_timeout_, on_end);
  exports_.Run([this, call] { call->Run(readers_.Borrow()); });
  return call;
}

}  // namespace telemetry::collector
