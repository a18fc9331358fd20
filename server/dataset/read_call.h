#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/access/gate.h"
#include "server/call/grpc_status.h"
#include "server/call/message_buffer.h"
#include "server/call/unary_call.h"
#include "server/dataset/fair_pool.h"
#include "server/dataset/reader_pool.h"
#include "server/storage/store.h"

namespace telemetry::dataset {

// A unary call whose response a pool thread reads from the dataset. The response counts as held until the client has
// read it. Thread-safe.
template <typename Request, typename Response>
class ReadCall final : public call::UnaryCall {
 public:
  using call::UnaryCall::Timeouts;

  // The pools and the gate must outlive the call.
  struct Context {
    FairPool& pool;
    ReaderPool& readers;
    access::Gate& gate;
    Timeouts timeouts;
    absl::Duration retry_delay;
    uint64_t most_request_bytes;  // a larger request is refused unparsed
    std::function<absl::Status(const Request&)> check;
    std::function<absl::StatusOr<Response>(storage::StoreReader&, const Request&)> read;
  };

  ReadCall(Context context, call::AdmittedCall call)
      : call::UnaryCall(std::move(call), context.gate, context.timeouts), context_(std::move(context)) {}
  ReadCall(const ReadCall&) = delete;
  ReadCall& operator=(const ReadCall&) = delete;
  ~ReadCall() override { context_.pool.Release(sender(), held_bytes_); }

 private:
  void OnRequest() override {
    absl::Status status = request().Length() <= context_.most_request_bytes
                              ? call::FromBuffer(request(), &request_)
                              : absl::InvalidArgumentError("the request is too large");
    request().Clear();
    if (status.ok()) status = context_.check(request_);
    if (!status.ok()) return End(std::move(status));
    auto self = std::static_pointer_cast<ReadCall>(shared_from_this());
    const bool waits = context_.pool.Run(sender(), [self = std::move(self)] { self->ReadAndAnswer(); });
    if (!waits) End(call::TryAgainLater("too many calls of this client are waiting", context_.retry_delay));
  }

  void ReadAndAnswer() {
    if (has_ended()) return;
    const absl::StatusOr<ReaderPool::Borrowed> reader = context_.readers.Borrow();
    if (!reader.ok()) return End(reader.status());
    const absl::StatusOr<Response> response = context_.read(**reader, request_);
    if (!response.ok()) return End(response.status());
    grpc::ByteBuffer answer = call::ToBuffer(*response);
    held_bytes_ = answer.Length();
    context_.pool.Hold(sender(), held_bytes_);
    Answer(std::move(answer));
  }

  const Context context_;
  Request request_;
  uint64_t held_bytes_ = 0;
};

}  // namespace telemetry::dataset
