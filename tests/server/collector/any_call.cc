#include "tests/server/collector/any_call.h"

#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/byte_buffer.h>

#include <chrono>

namespace telemetry::collector {
namespace {

constexpr std::chrono::seconds kDeadline{60};

// Blocks until the one pending operation has ended.
bool Await(grpc::CompletionQueue& queue) {
  void* tag = nullptr;
  bool ok = false;
  return queue.Next(&tag, &ok) && ok;
}

std::string CopyBytes(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  std::string bytes;
  if (!buffer.Dump(&slices).ok()) return bytes;
  for (const grpc::Slice& part : slices) bytes.append(reinterpret_cast<const char*>(part.begin()), part.size());
  return bytes;
}

}  // namespace

CallOutcome CallAnything(const std::shared_ptr<grpc::Channel>& channel, const std::string& method,
                         const std::string& request_bytes, const std::vector<std::string>& authorization) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kDeadline);
  for (const std::string& value : authorization) context.AddMetadata("authorization", value);
  grpc::CompletionQueue queue;
  grpc::GenericStub stub(channel);
  const auto call = stub.PrepareCall(&context, method, &queue);
  call->StartCall(nullptr);
  Await(queue);
  const grpc::Slice slice(request_bytes);
  call->Write(grpc::ByteBuffer(&slice, 1), nullptr);
  if (Await(queue)) {
    call->WritesDone(nullptr);
    Await(queue);
  }
  CallOutcome outcome;
  grpc::ByteBuffer response;
  for (call->Read(&response, nullptr); Await(queue); call->Read(&response, nullptr)) {
    ++outcome.responses;
    outcome.response = CopyBytes(response);
  }
  call->Finish(&outcome.status, nullptr);
  Await(queue);
  queue.Shutdown();
  Await(queue);  // returns when the queue is empty
  return outcome;
}

SilentCall::SilentCall(const std::shared_ptr<grpc::Channel>& channel, const std::string& method) : stub_(channel) {
  context_.set_deadline(std::chrono::system_clock::now() + kDeadline);
  call_ = stub_.PrepareCall(&context_, method, &queue_);
  call_->StartCall(nullptr);
  Await(queue_);
}

SilentCall::~SilentCall() {
  context_.TryCancel();
  if (!finished_) AwaitEnd();
  queue_.Shutdown();
  Await(queue_);  // returns when the queue is empty
}

grpc::Status SilentCall::AwaitEnd() {
  grpc::Status status;
  finished_ = true;
  call_->Finish(&status, nullptr);
  Await(queue_);
  return status;
}

}  // namespace telemetry::collector
