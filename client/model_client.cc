#include "client/model_client.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/retry_info.h"
#include "proto/base/status_macros.h"
#include "proto/record/ids.h"

namespace telemetry::client {
namespace {

constexpr uint64_t kModelPartBytes = uint64_t{1} << 20;  // models.proto
constexpr int kLargestModelAnswerBytes = 4 << 20;
constexpr size_t kLargestModelPage = 1000;

std::unique_ptr<v1::ModelService::Stub> MakeStub(const access::Connection& connection, const std::string& collector) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kLargestModelAnswerBytes);
  // Uses a connection of its own, which does not wait for another connection's back-off to end.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return v1::ModelService::NewStub(grpc::CreateCustomChannel(collector, connection.channel_credentials(), arguments));
}

}  // namespace

absl::StatusOr<std::unique_ptr<ModelClient>> ModelClient::Open(ModelClientOptions options) {
  ASSIGN_OR_RETURN(access::Connection connection, access::Connection::Prepare(options.credentials, options.collector));
  return std::unique_ptr<ModelClient>(new ModelClient(std::move(options), std::move(connection)));
}

ModelClient::ModelClient(ModelClientOptions options, access::Connection connection)
    : options_(std::move(options)),
      connection_(std::move(connection)),
      stub_(MakeStub(connection_, options_.collector)) {}

template <typename Request, typename Response>
absl::Status ModelClient::Call(grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                               const Request& request, Response* response, absl::Duration* retry_delay) {
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + options_.deadline));
  connection_.Authorize(&context);
  const grpc::Status answer = ((*stub_).*method)(&context, request, response);
  if (retry_delay != nullptr) {
    *retry_delay = ParseRetryDelay(answer.error_details()).value_or(absl::ZeroDuration());
  }
  absl::Status status = connection_.CallStatus(answer);
  if (status.ok()) return status;
  return {status.code(), absl::StrCat("collector ", options_.collector, ": ", status.message())};
}

absl::StatusOr<v1::PutModelResponse> ModelClient::Store(std::string_view file) {
  v1::PutModelRequest request;
  request.set_sha256(record::Sha256(file));
  request.set_size_bytes(file.size());
  const uint64_t parts = (file.size() + kModelPartBytes - 1) / kModelPartBytes;
  absl::Duration waited;
  uint64_t removed = 0;
  // After an interruption some parts are sent again.
  for (uint64_t sent = 0; sent < 3 * parts + 3;) {
    const std::string_view data =
        file.substr(std::min<uint64_t>(request.part() * kModelPartBytes, file.size()), kModelPartBytes);
    request.set_data(data.data(), data.size());
    v1::PutModelResponse response;
    absl::Duration pause;
    const absl::Status status = Call(&Stub::Put, request, &response, &pause);
    if (absl::IsResourceExhausted(status) && pause > absl::ZeroDuration() && waited + pause <= options_.patience) {
      absl::SleepFor(pause);
      waited += pause;
      continue;
    }
    RETURN_IF_ERROR(status);
    removed += response.removed();
    response.set_removed(removed);
    if (response.is_stored()) return response;
    request.set_part(response.received_parts());
    ++sent;
  }
  return absl::AbortedError(absl::StrCat("collector ", options_.collector,
                                         ": another program of the same sender stores models at the same time; "
                                         "run the command again"));
}

absl::Status ModelClient::ListAll(v1::ListModelsRequest request, size_t limit,
                                  const std::function<absl::Status(const v1::StoredModel&)>& take) {
  size_t taken = 0;
  while (taken < limit) {
    request.set_page_size(static_cast<int32_t>(std::min(limit - taken, kLargestModelPage)));
    v1::ListModelsResponse page;
    RETURN_IF_ERROR(Call(&Stub::List, request, &page));
    for (const v1::StoredModel& model : page.models()) {
      if (taken++ >= limit) break;
      RETURN_IF_ERROR(take(model));
    }
    // A page without models would repeat for ever.
    if (page.next_page_token().empty() || page.models().empty()) break;
    request.set_page_token(page.next_page_token());
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ModelClient::Fetch(const v1::StoredModel& model, uint64_t most_bytes) {
  if (model.size_bytes() > most_bytes) {
    return absl::ResourceExhaustedError(absl::StrCat("collector ", options_.collector, ": the model has ",
                                                     model.size_bytes(), " bytes; the limit is ", most_bytes));
  }
  std::string file;
  v1::ReadModelRequest request;
  request.set_sha256(model.sha256());
  request.set_sender(model.sender());
  while (file.size() < model.size_bytes()) {
    v1::ReadModelResponse response;
    RETURN_IF_ERROR(Call(&Stub::Read, request, &response));
    const uint64_t expected = std::min(kModelPartBytes, model.size_bytes() - file.size());
    if (response.data().size() != expected) break;
    file += response.data();
    request.set_part(request.part() + 1);
  }
  if (file.size() == model.size_bytes() && record::Sha256(file) == model.sha256()) return file;
  return absl::DataLossError(absl::StrCat("collector ", options_.collector, ": the bytes of the model ",
                                          record::HexEncode(model.sha256()).substr(0, 12),
                                          " do not have its size and SHA-256; store the model again"));
}

absl::Status ModelClient::Remove(const std::string& sha256, const std::string& sender) {
  v1::RemoveModelRequest request;
  request.set_sha256(sha256);
  request.set_sender(sender);
  v1::RemoveModelResponse response;
  return Call(&Stub::Remove, request, &response);
}

}  // namespace telemetry::client
