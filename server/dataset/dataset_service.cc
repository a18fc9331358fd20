#include "server/dataset/dataset_service.h"

#include <memory>
#include <utility>

#include "server/call/grpc_status.h"
#include "server/call/message_buffer.h"
#include "server/call/unary_call.h"
#include "telemetry/v1/dataset.pb.h"

namespace telemetry::dataset {
namespace {

constexpr int kQuestionThreads = 2;
constexpr int kExportThreads = 4;
static_assert(kQuestionThreads + kExportThreads == DatasetService::kMostReaders);
// The most bytes of responses that clients have not read.
constexpr uint64_t kAnswerBytes = uint64_t{16} << 20;

}  // namespace

// A unary call whose response a pool thread reads from the dataset. The response counts as held until the client has
// read it.
template <typename Request, typename Response>
class DatasetService::Question final : public call::UnaryCall {
 public:
  using Ask = absl::StatusOr<Response> (*)(storage::StoreReader&, const Request&);

  // `service` must outlive the call.
  Question(DatasetService& service, call::AdmittedCall call, Ask ask)
      : call::UnaryCall(std::move(call), service.gate_,
                        {.request = service.options_.request_timeout, .unread = service.options_.unread_timeout}),
        service_(service),
        ask_(ask) {}
  Question(const Question&) = delete;
  Question& operator=(const Question&) = delete;
  ~Question() override { service_.question_pool_.Release(sender(), held_bytes_); }

 private:
  void OnRequest() override {
    if (absl::Status status = call::FromBuffer(request(), &request_); !status.ok()) return End(std::move(status));
    request().Clear();
    auto self = std::static_pointer_cast<Question>(shared_from_this());
    const bool waits = service_.question_pool_.Run(sender(), [self = std::move(self)] { self->Read(); });
    if (!waits) End(call::TryAgainLater("too many calls of this client are waiting", service_.options_.retry_delay));
  }

  void Read() {
    if (has_ended()) return;
    const absl::StatusOr<ReaderPool::Borrowed> reader = service_.readers_.Borrow();
    if (!reader.ok()) return End(reader.status());
    const absl::StatusOr<Response> response = ask_(**reader, request_);
    if (!response.ok()) return End(response.status());
    grpc::ByteBuffer answer = call::ToBuffer(*response);
    held_bytes_ = answer.Length();
    service_.question_pool_.Hold(sender(), held_bytes_);
    Answer(std::move(answer));
  }

  DatasetService& service_;
  const Ask ask_;
  Request request_;
  uint64_t held_bytes_ = 0;
};

template <typename Request, typename Response>
void DatasetService::AddQuestion(const char* method,
                                 absl::StatusOr<Response> (*ask)(storage::StoreReader&, const Request&)) {
  AddMethod(method, call::CallKind::kOther, [this, ask](call::AdmittedCall call) {
    return std::make_shared<Question<Request, Response>>(*this, std::move(call), ask);
  });
}

DatasetService::DatasetService(ReaderPool& readers, access::Gate& gate, call::RunningCalls& calls,
                               const Options& options)
    : call::RawService(calls),
      readers_(readers),
      gate_(gate),
      options_(options),
      question_pool_({.threads = kQuestionThreads, .held_bytes = kAnswerBytes}),
      export_pool_({.threads = kExportThreads}) {
  using storage::StoreReader;
  AddQuestion<v1::ListRunsRequest, v1::ListRunsResponse>(
      "/telemetry.v1.DatasetService/ListRuns",
      [](StoreReader& reader, const auto& request) { return reader.ListRuns(request); });
  AddQuestion<v1::GetRunRequest, v1::RunSummary>(
      "/telemetry.v1.DatasetService/GetRun",
      [](StoreReader& reader, const auto& request) { return reader.GetRun(request.run_id()); });
  AddQuestion<v1::ListAttemptsRequest, v1::ListAttemptsResponse>(
      "/telemetry.v1.DatasetService/ListAttempts",
      [](StoreReader& reader, const auto& request) { return reader.ListAttempts(request); });
  AddQuestion<v1::GetAttemptRequest, v1::AttemptSummary>(
      "/telemetry.v1.DatasetService/GetAttempt",
      [](StoreReader& reader, const auto& request) { return reader.GetAttempt(request.attempt_id()); });
  AddQuestion<v1::ListMeasurementsRequest, v1::ListMeasurementsResponse>(
      "/telemetry.v1.DatasetService/ListMeasurements",
      [](StoreReader& reader, const auto& request) { return reader.ListMeasurements(request); });
  AddMethod(ExportCall::kMethod, call::CallKind::kExport, [this](call::AdmittedCall call) {
    const PageCallContext context = {.pool = export_pool_,
                                     .readers = readers_,
                                     .request_timeout = options_.request_timeout,
                                     .unread_timeout = options_.unread_timeout,
                                     .call_timeout = options_.export_timeout};
    return std::make_shared<ExportCall>(
        context, std::move(call),
        [this](const access::Caller& caller, const absl::Status& status) { OnExportEnd(caller, status); });
  });
}

void DatasetService::OnExportEnd(const access::Caller& caller, const absl::Status& status) {
  if (absl::IsDeadlineExceeded(status)) ++overdue_exports_;
  gate_.LogEnd(caller, ExportCall::kMethod, "", status);
}

}  // namespace telemetry::dataset
