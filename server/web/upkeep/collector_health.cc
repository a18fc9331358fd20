#include "server/web/upkeep/collector_health.h"

#include <grpcpp/completion_queue.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/byte_buffer.h>

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/clock.h"

namespace telemetry::web::upkeep {
namespace {

constexpr char kCheck[] = "/grpc.health.v1.Health/Check";

// Returns the bytes of a message that consists of one slice or more.
std::string BytesOf(const grpc::ByteBuffer& message) {
  std::vector<grpc::Slice> slices;
  std::string bytes;
  if (!message.Dump(&slices).ok()) return bytes;
  for (const grpc::Slice& slice : slices) bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  return bytes;
}

// Calls Health.Check, for the whole server.
absl::StatusOr<std::string> Check(const std::string& address, const access::Connection& connection,
                                  absl::Time deadline) {
  grpc::GenericStub stub(grpc::CreateChannel(address, connection.channel_credentials()));
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(deadline));
  grpc::CompletionQueue queue;
  const grpc::Slice nothing("");
  const grpc::ByteBuffer request(&nothing, 1);
  const std::unique_ptr<grpc::GenericClientAsyncResponseReader> call =
      stub.PrepareUnaryCall(&context, kCheck, request, &queue);
  call->StartCall();
  grpc::ByteBuffer response;
  grpc::Status status;
  call->Finish(&response, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  if (absl::Status failure = connection.CallStatus(status); !failure.ok()) return failure;
  return BytesOf(response);
}

}  // namespace

CollectorHealth AskHealth(const std::string& address, const access::Credentials& credentials, absl::Duration timeout) {
  CollectorHealth health = {
      .address = address, .state = "unreachable", .checked_unix_ms = absl::ToUnixMillis(absl::Now())};
  const absl::StatusOr<access::Connection> connection = access::Connection::Prepare(credentials, address);
  const absl::StatusOr<std::string> answer =
      connection.ok() ? Check(address, *connection, absl::Now() + timeout) : connection.status();
  if (!answer.ok()) {
    health.detail = std::string(answer.status().message());
  } else {
    // HealthCheckResponse: the field 1 is the status, of which 1 is SERVING.
    health.state = *answer == "\x08\x01" ? "serving" : "not_serving";
  }
  return health;
}

}  // namespace telemetry::web::upkeep
