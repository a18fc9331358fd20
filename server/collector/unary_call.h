#pragma once

#include <grpcpp/support/server_callback.h>

#include <functional>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "server/access/running_calls.h"

namespace telemetry::collector {

// A unary call whose answer comes from another thread, and which may end before that. Lives until gRPC is done with it
// and nobody else has it. Thread-safe.
class UnaryCall final : public grpc::ServerUnaryReactor, public access::RunningCall {
 public:
  // `on_end`: told how the call ends, once. `calls` outlives it; `caller` was admitted to `method`, a literal.
  static std::shared_ptr<UnaryCall> Begin(access::RunningCalls& calls, const access::Caller& caller,
                                          std::string_view method, std::function<void(const absl::Status&)> on_end);

  void End(absl::Status status) override {
    Answer(status, [] {});
  }
  // Ends the call, unless it has ended. `fill` sets the response, which is not to be touched otherwise.
  void Answer(const absl::Status& status, const std::function<void()>& fill) ABSL_LOCKS_EXCLUDED(mutex_);
  bool has_ended() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  UnaryCall(access::RunningCalls& calls, std::function<void(const absl::Status&)> on_end)
      : calls_(calls), on_end_(std::move(on_end)) {}
  void OnCancel() override { End(absl::CancelledError("the client has gone")); }
  void OnDone() override;

  access::RunningCalls& calls_;
  const std::function<void(const absl::Status&)> on_end_;
  std::shared_ptr<UnaryCall> self_;  // until OnDone
  absl::Mutex mutex_;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace telemetry::collector
