#pragma once

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "proto/clock/steady.h"
#include "server/access/running_calls.h"
#include "server/collector/fair_pool.h"
#include "server/collector/reader_pool.h"
#include "server/storage/exporter.h"
#include "telemetry/v1/dataset.pb.h"

namespace telemetry::collector {

// The objects and limits that all exports share. The objects outlive the exports.
struct ExportContext {
  FairPool& pool;
  ReaderPool& readers;
  access::RunningCalls& calls;
  // A client that reads nothing for so long is cut off.
  absl::Duration unread_timeout;
  // For a whole export.
  absl::Duration export_timeout;
};

// One export on its way to a client. A thread of the pool reads a page over a reader that it borrows for that; the page
// waits in memory until the client has taken it, and with it neither a thread nor a reader.
class ExportCall final : public grpc::ServerWriteReactor<grpc::ByteBuffer>,
                         public access::RunningCall,
                         public std::enable_shared_from_this<ExportCall> {
 public:
  static constexpr char kMethod[] = "/telemetry.v1.DatasetService/Export";

  struct Options {
    access::Caller caller;  // was admitted to kMethod
    std::string client;     // whose turn it takes in the pool
    v1::ExportRequest request;
    // Told how the call ends, before its client is: DEADLINE_EXCEEDED for the two times above.
    std::function<void(const absl::Status&)> on_end;
    // gRPC is done with the call.
    std::function<void()> on_done;
  };

  // Begins one, which lives until gRPC is done with it. `call` is the reactor's.
  static ExportCall* Begin(const ExportContext& context, grpc::CallbackServerContext& call, Options options);

  // Waits up to half a second for the write under way, so that the client receives the status.
  void End(absl::Status status) override ABSL_LOCKS_EXCLUDED(mutex_);
  void CheckTime(SteadyTime now) override ABSL_LOCKS_EXCLUDED(mutex_);
  void Drain() override ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Page {
    std::deque<grpc::ByteBuffer> messages;
    uint64_t bytes = 0;
    bool is_last = false;
  };

  ExportCall(const ExportContext& context, grpc::CallbackServerContext& call, Options options);

  // The reactions.
  void OnWriteDone(bool ok) override ABSL_LOCKS_EXCLUDED(mutex_);
  void OnCancel() override ABSL_LOCKS_EXCLUDED(mutex_);
  void OnDone() override;

  // Reads a page and begins to write it: the pool's work.
  void ReadOn() ABSL_LOCKS_EXCLUDED(mutex_);
  absl::StatusOr<Page> ReadPage();
  bool has_ended() ABSL_LOCKS_EXCLUDED(mutex_);

  void ScheduleRead() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Writes the page's next message, or reads on, or ends.
  void GoOn() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void EndBy(absl::Status status, SteadyTime cut_at) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void FinishNow(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const ExportContext context_;
  grpc::CallbackServerContext& call_;
  const Options options_;
  const SteadyTime limit_at_;
  storage::Exporter exporter_;        // of the one read under way
  std::shared_ptr<ExportCall> self_;  // until OnDone

  absl::Mutex mutex_;
  Page page_ ABSL_GUARDED_BY(mutex_);
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  SteadyTime writing_since_ ABSL_GUARDED_BY(mutex_);
  // Set while a write is under way that is waited for until then.
  std::optional<absl::Status> end_ ABSL_GUARDED_BY(mutex_);
  SteadyTime cut_at_ ABSL_GUARDED_BY(mutex_) = kNever;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace telemetry::collector
