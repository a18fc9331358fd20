#pragma once

#include <grpcpp/support/byte_buffer.h>

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
#include "server/collector/fair_pool.h"
#include "server/collector/raw_service.h"
#include "server/collector/reader_pool.h"
#include "server/storage/exporter.h"
#include "telemetry/v1/dataset.pb.h"

namespace telemetry::collector {

// The objects and limits that all exports share. The objects outlive the exports.
struct ExportContext {
  FairPool& pool;
  ReaderPool& readers;
  // For the request.
  absl::Duration request_timeout;
  // A client that reads nothing for so long is cut off.
  absl::Duration unread_timeout;
  // For a whole export.
  absl::Duration export_timeout;
};

// One export on its way to a client. A thread of the pool reads a page over a reader that it borrows for that; the page
// waits in memory until the client has taken it, and with it neither a thread nor a reader.
class ExportCall final : public RawCall {
 public:
  static constexpr char kMethod[] = "/telemetry.v1.DatasetService/Export";

  // Told how the call ends, before its client is: DEADLINE_EXCEEDED for the times above.
  using OnEnd = std::function<void(const access::Caller&, const absl::Status&)>;
  ExportCall(const ExportContext& context, AdmittedCall call, OnEnd on_end);

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

  void Begin() override { wire().Read(&request_); }
  // The reactions.
  void OnReadDone(bool ok) override ABSL_LOCKS_EXCLUDED(mutex_);
  void OnWriteDone(bool ok) override ABSL_LOCKS_EXCLUDED(mutex_);
  void OnCancel() override ABSL_LOCKS_EXCLUDED(mutex_);

  std::shared_ptr<ExportCall> Self() { return std::static_pointer_cast<ExportCall>(shared_from_this()); }
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
  const OnEnd on_end_;
  const SteadyTime request_at_;
  const SteadyTime limit_at_;
  grpc::ByteBuffer request_;
  std::optional<storage::Exporter> exporter_;  // once the request is there; of the one read under way

  absl::Mutex mutex_;
  bool has_request_ ABSL_GUARDED_BY(mutex_) = false;
  Page page_ ABSL_GUARDED_BY(mutex_);
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  SteadyTime writing_since_ ABSL_GUARDED_BY(mutex_);
  // Set while a write is under way that is waited for until then.
  std::optional<absl::Status> end_ ABSL_GUARDED_BY(mutex_);
  SteadyTime cut_at_ ABSL_GUARDED_BY(mutex_) = kNever;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace telemetry::collector
