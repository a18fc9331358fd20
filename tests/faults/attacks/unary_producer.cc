#include "tests/faults/attacks/unary_producer.h"

#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>

#include <utility>

#include "absl/time/clock.h"
#include "tests/faults/attacks/messages.h"

namespace telemetry::faults {
namespace {

// Without this setting, channels of one process share connections.
grpc::ChannelArguments OwnConnection() {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return arguments;
}

}  // namespace

UnaryProducer::UnaryProducer(const std::string& address, std::string producer_id)
    : stub_(v1::IngestService::NewStub(
          grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), OwnConnection()))),
      producer_id_(std::move(producer_id)) {}

std::optional<int> UnaryProducer::Send(const std::vector<v1::Record>& records) {
  std::vector<std::string> bytes;
  bytes.reserve(records.size());
  for (const v1::Record& record : records) bytes.push_back(record.SerializeAsString());
  return SendBytes(bytes);
}

std::optional<int> UnaryProducer::SendBytes(const std::vector<std::string>& records) {
  v1::IngestResponse response;
  if (!Send(MakeBatch(next_seq_, records), absl::Minutes(2), &response).ok()) return std::nullopt;
  next_seq_ += records.size();
  return response.ack().rejects_size();
}

grpc::Status UnaryProducer::Send(const v1::Batch& batch, absl::Duration patience, v1::IngestResponse* response) {
  v1::IngestRequest request;
  request.mutable_open()->set_producer_id(producer_id_);
  *request.mutable_batch() = batch;
  grpc::ClientContext context;
  context.set_wait_for_ready(true);
  context.set_deadline(absl::ToChronoTime(absl::Now() + patience));
  return stub_->Ingest(&context, request, response);
}

}  // namespace telemetry::faults
