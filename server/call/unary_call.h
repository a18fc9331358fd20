#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "proto/base/steady.h"
#include "server/access/gate.h"
#include "server/call/raw_service.h"

namespace telemetry::call {

// A call with one request and one response, which may come from another thread. The call may end before the response is
// ready. Thread-safe.
class UnaryCall : public RawCall {
 public:
  void End(absl::Status status) final { Answer(std::move(status)); }
  void CheckTime(SteadyTime now) final ABSL_LOCKS_EXCLUDED(mutex_);

 protected:
  struct Timeouts {
    // A call whose request does not arrive within this time ends with DEADLINE_EXCEEDED.
    absl::Duration request;
    // A client that does not read the response within this time is disconnected.
    absl::Duration unread;
  };
  // `gate` must outlive the call.
  UnaryCall(AdmittedCall call, access::Gate& gate, const Timeouts& timeouts)
      : RawCall(std::move(call)),
        gate_(gate),
        unread_timeout_(timeouts.unread),
        request_at_(SteadyAfter(timeouts.request)) {}

  // Handles the request.
  virtual void OnRequest() = 0;

  // Valid only while the call handles the request.
  grpc::ByteBuffer& request() { return request_; }
  bool has_ended() ABSL_LOCKS_EXCLUDED(mutex_);
  // Sets the producer that the log line of the call's end names.
  void SetProducer(const std::string& producer_id) ABSL_LOCKS_EXCLUDED(mutex_);
  // Ends the call with the response or an error, unless it has ended.
  void Answer(absl::StatusOr<grpc::ByteBuffer> answer) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Begin() final { wire().Read(&request_); }
  void OnReadDone(bool ok) final ABSL_LOCKS_EXCLUDED(mutex_);
  void OnCancel() final { End(absl::CancelledError("the client has disconnected")); }

  access::Gate& gate_;
  const absl::Duration unread_timeout_;
  grpc::ByteBuffer request_;
  grpc::ByteBuffer response_;
  absl::Mutex mutex_;
  // The deadlines for the request to arrive and for the response to be read; kNever if not awaited.
  SteadyTime request_at_ ABSL_GUARDED_BY(mutex_);
  SteadyTime read_at_ ABSL_GUARDED_BY(mutex_) = kNever;
  std::string producer_id_ ABSL_GUARDED_BY(mutex_);
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace telemetry::call
