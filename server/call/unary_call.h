#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "proto/clock/steady.h"
#include "server/access/gate.h"
#include "server/call/raw_service.h"

namespace telemetry::collector {

// A call with one request and one answer, which may come from another thread. The call may end before the answer is
// there. Thread-safe.
class UnaryCall : public RawCall {
 public:
  void End(absl::Status status) final { Answer(std::move(status)); }
  void CheckTime(SteadyTime now) final ABSL_LOCKS_EXCLUDED(mutex_);

 protected:
  struct Timeouts {
    // A request that is not there after this long ends the call with DEADLINE_EXCEEDED.
    absl::Duration request;
    // A client that has not read the answer after this long is cut off.
    absl::Duration unread;
  };
  // `gate` outlives the call.
  UnaryCall(AdmittedCall call, access::Gate& gate, const Timeouts& timeouts)
      : RawCall(std::move(call)),
        gate_(gate),
        unread_timeout_(timeouts.unread),
        request_at_(SteadyAfter(timeouts.request)) {}

  // Handles the request.
  virtual void OnRequest() = 0;

  // Only while the call handles it.
  grpc::ByteBuffer& request() { return request_; }
  bool has_ended() ABSL_LOCKS_EXCLUDED(mutex_);
  // Names the producer for the log.
  void SetProducer(const std::string& producer_id) ABSL_LOCKS_EXCLUDED(mutex_);
  // Ends the call, unless it has ended.
  void Answer(absl::StatusOr<grpc::ByteBuffer> answer) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Begin() final { wire().Read(&request_); }
  void OnReadDone(bool ok) final ABSL_LOCKS_EXCLUDED(mutex_);
  void OnCancel() final { End(absl::CancelledError("the client has gone")); }

  access::Gate& gate_;
  const absl::Duration unread_timeout_;
  grpc::ByteBuffer request_;
  grpc::ByteBuffer response_;
  absl::Mutex mutex_;
  // Until then the request has to be there, and the answer has to be read; kNever while neither is awaited.
  SteadyTime request_at_ ABSL_GUARDED_BY(mutex_);
  SteadyTime read_at_ ABSL_GUARDED_BY(mutex_) = kNever;
  std::string producer_id_ ABSL_GUARDED_BY(mutex_);
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace telemetry::collector
