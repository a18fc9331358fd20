#pragma once

#include <grpcpp/support/server_callback.h>

#include <atomic>
#include <functional>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "proto/clock/steady.h"
#include "server/collector/reader_pool.h"
#include "telemetry/v1/dataset.pb.h"

namespace telemetry::collector {

// One export on its way to a client: the next page is read when the last one has gone out, so a slow client costs
// neither memory nor an open read transaction. Deletes itself when gRPC is done with it.
class ExportCall final : public grpc::ServerWriteReactor<v1::ExportItem> {
 public:
  // `call` is the reactor's; `draining` must outlive it. A client that reads nothing for `unread_timeout` is cut off.
  // `on_end` is told how the call ends, before its client is: DEADLINE_EXCEEDED for that.
  ExportCall(grpc::CallbackServerContext& call, v1::ExportRequest request, const std::atomic<bool>& draining,
             absl::Duration unread_timeout, std::function<void(const absl::Status&)> on_end)
      : call_(call),
        request_(std::move(request)),
        draining_(draining),
        unread_timeout_(unread_timeout),
        on_end_(std::move(on_end)) {}

  // Writes everything and finishes. Blocks: call it once, from a thread that may wait for the client.
  void Run(absl::StatusOr<ReaderPool::Borrowed> reader);

 private:
  // Returns when the item has been taken.
  absl::Status Write(const v1::ExportItem& item) ABSL_LOCKS_EXCLUDED(mutex_);
  void OnWriteDone(bool ok) override ABSL_LOCKS_EXCLUDED(mutex_);
  void OnCancel() override { cancelled_ = true; }
  void OnDone() override { delete this; }

  grpc::CallbackServerContext& call_;
  const v1::ExportRequest request_;
  const std::atomic<bool>& draining_;
  const absl::Duration unread_timeout_;
  const std::function<void(const absl::Status&)> on_end_;
  std::atomic<bool> cancelled_ = false;
  absl::Mutex mutex_;
  SteadyCondition write_done_;
  std::optional<bool> written_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace telemetry::collector
