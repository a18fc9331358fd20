#include "client/ingest_stream.h"

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/channel_arguments.h>
#include <grpcpp/support/client_callback.h>

#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "client/retry_info.h"
#include "proto/access/request_id.h"

namespace telemetry::client {
namespace {

constexpr char kMethod[] = "/telemetry.v1.IngestService/Stream";
// A peer that disappears without closing the connection is detected after the sum of these.
constexpr absl::Duration kKeepaliveTime = absl::Seconds(30);
constexpr absl::Duration kKeepaliveTimeout = absl::Seconds(10);

std::shared_ptr<grpc::Channel> Connect(const std::string& collector, const access::Connection& connection) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, static_cast<int>(absl::ToInt64Milliseconds(kKeepaliveTime)));
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, static_cast<int>(absl::ToInt64Milliseconds(kKeepaliveTimeout)));
  // Uses a connection of its own. Only the sender retries it, not a pool that other channels share.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetMaxReceiveMessageSize(-1);
  return grpc::CreateCustomChannel(collector, connection.channel_credentials(), arguments);
}

// Returns a slice that owns the string's memory, without a copy.
grpc::Slice ToSlice(std::string bytes) {
  auto* owned = new std::string(std::move(bytes));
  return grpc::Slice(
      owned->data(), owned->size(), [](void* string) { delete static_cast<std::string*>(string); }, owned);
}

grpc::ByteBuffer ToByteBuffer(EncodedBatch batch) {
  const grpc::Slice slices[] = {ToSlice(std::move(batch.head)), ToSlice(std::move(batch.body))};
  return grpc::ByteBuffer(slices, std::size(slices));
}

grpc::ByteBuffer ToByteBuffer(const v1::Open& open) {
  v1::StreamRequest request;
  *request.mutable_open() = open;
  const grpc::Slice slice = ToSlice(request.SerializeAsString());
  return grpc::ByteBuffer(&slice, 1);
}

class GrpcIngestStream final : public IngestStream,
                               private grpc::ClientBidiReactor<grpc::ByteBuffer, v1::StreamResponse> {
 public:
  GrpcIngestStream(const std::string& collector, const access::Connection& connection, std::function<void()> on_event)
      : connection_(connection), on_event_(std::move(on_event)), stub_(Connect(collector, connection)) {
    connection_.Authorize(&context_);
  }

  ~GrpcIngestStream() override { Finish(); }

  void Begin(const v1::Open& open) {
    stub_.PrepareBidiStreamingCall(&context_, kMethod, {}, this);
    // The owner starts writes outside of gRPC's reactions. The hold keeps the call alive until Finish().
    AddHold();
    write_buffer_ = ToByteBuffer(open);
    StartWrite(&write_buffer_);
    StartRead(&read_message_);
    StartCall();
  }

  bool can_write() const override {
    absl::MutexLock lock(&mutex_);
    return !writing_ && !read_ended_;
  }

  void Write(EncodedBatch batch) override {
    ReadOn();
    {
      absl::MutexLock lock(&mutex_);
      writing_ = true;
    }
    write_buffer_ = ToByteBuffer(std::move(batch));
    StartWrite(&write_buffer_);
  }

  void ReadOn() override {
    {
      absl::MutexLock lock(&mutex_);
      if (reading_ || read_ended_) return;
      reading_ = true;
    }
    StartRead(&read_message_);
  }

  std::vector<v1::StreamResponse> TakeResponses() override {
    absl::MutexLock lock(&mutex_);
    return std::exchange(responses_, {});
  }

  bool ended() const override {
    absl::MutexLock lock(&mutex_);
    return read_ended_;
  }

  StreamEnd Finish() override {
    {
      absl::MutexLock lock(&mutex_);
      if (finished_) return {};
      finished_ = true;
      if (!read_ended_) context_.TryCancel();
    }
    RemoveHold();
    absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(&done_));
    return {.status = connection_.CallStatus(status_),
            .retry_delay = ParseRetryDelay(status_.error_details()),
            .request_id = request_id_};
  }

 private:
  void OnReadInitialMetadataDone(bool ok) override {
    if (!ok) return;
    const auto& metadata = context_.GetServerInitialMetadata();
    const auto entry = metadata.find(access::kRequestIdKey);
    if (entry == metadata.end()) return;
    const std::string_view id(entry->second.data(), entry->second.size());
    absl::MutexLock lock(&mutex_);
    if (access::IsRequestId(id)) request_id_ = id;
  }

  void OnWriteDone(bool /*ok*/) override {
    // The end of the reads follows a failed write and carries its reason.
    {
      absl::MutexLock lock(&mutex_);
      writing_ = false;
    }
    on_event_();
  }

  void OnReadDone(bool ok) override {
    {
      absl::MutexLock lock(&mutex_);
      if (ok) responses_.push_back(std::move(read_message_));
      read_message_.Clear();
      reading_ = false;
      read_ended_ = !ok;
    }
    on_event_();
  }

  void OnDone(const grpc::Status& status) override {
    absl::MutexLock lock(&mutex_);
    status_ = status;
    done_ = true;
  }

  const access::Connection connection_;
  const std::function<void()> on_event_;
  grpc::TemplatedGenericStub<grpc::ByteBuffer, v1::StreamResponse> stub_;
  grpc::ClientContext context_;
  grpc::ByteBuffer write_buffer_;    // used by gRPC while a write is pending, else by the owner
  v1::StreamResponse read_message_;  // used by gRPC and its reactions while a read is pending

  mutable absl::Mutex mutex_;
  bool writing_ ABSL_GUARDED_BY(mutex_) = true;
  bool reading_ ABSL_GUARDED_BY(mutex_) = true;
  bool read_ended_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
  bool done_ ABSL_GUARDED_BY(mutex_) = false;
  grpc::Status status_ ABSL_GUARDED_BY(mutex_);
  std::string request_id_ ABSL_GUARDED_BY(mutex_);  // empty: not received yet
  std::vector<v1::StreamResponse> responses_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

std::unique_ptr<IngestStream> IngestStream::Start(const std::string& collector, const access::Connection& connection,
                                                  const v1::Open& open, std::function<void()> on_event) {
  auto stream = std::make_unique<GrpcIngestStream>(collector, connection, std::move(on_event));
  stream->Begin(open);
  return stream;
}

}  // namespace telemetry::client
