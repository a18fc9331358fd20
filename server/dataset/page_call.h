#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "proto/clock/steady.h"
#include "server/call/raw_service.h"
#include "server/dataset/fair_pool.h"
#include "server/dataset/reader_pool.h"

namespace telemetry::collector {

// The objects and limits that all calls of a kind share. The objects outlive the calls.
struct PageCallContext {
  FairPool& pool;
  ReaderPool& readers;
  // For the request.
  absl::Duration request_timeout;
  // A client that reads nothing for so long is cut off.
  absl::Duration unread_timeout;
  // For a whole call.
  absl::Duration call_timeout;
};

// A call with one request, which is answered in pages of messages. One page at a time is begun by a thread of the pool;
// it waits in memory until the client has taken it, and with it neither a thread nor a reader.
class PageCall : public RawCall {
 public:
  // Waits up to half a second for the write under way, so that the client receives the status.
  void End(absl::Status status) final ABSL_LOCKS_EXCLUDED(mutex_);
  void CheckTime(SteadyTime now) final ABSL_LOCKS_EXCLUDED(mutex_);
  void Drain() final ABSL_LOCKS_EXCLUDED(mutex_) { End(absl::UnavailableError(words_.draining)); }

 protected:
  struct Page {
    std::deque<grpc::ByteBuffer> messages;
    uint64_t bytes = 0;
    bool is_last = false;

    void Add(grpc::ByteBuffer message);
  };
  // Literals: the message of a call that ends since the collector does, and of one that took longer than call_timeout.
  struct Words {
    const char* draining;
    const char* overdue;
  };

  PageCall(const PageCallContext& context, AdmittedCall call, const Words& words);

  // Takes the request. An error ends the call.
  virtual absl::Status TakeRequest(const grpc::ByteBuffer& request) = 0;
  // Begins the next page, which is given to Deliver from this thread or another one.
  virtual void BeginPage() = 0;
  // Told how the call ends, before its client is. Must not block.
  virtual void OnEnd(const absl::Status& status) = 0;

  // The page that was begun, or the call's end.
  void Deliver(absl::StatusOr<Page> page) ABSL_LOCKS_EXCLUDED(mutex_);
  bool has_ended() ABSL_LOCKS_EXCLUDED(mutex_);
  ReaderPool& readers() const { return context_.readers; }

 private:
  void Begin() final { wire().Read(&request_); }
  // The reactions.
  void OnReadDone(bool ok) final ABSL_LOCKS_EXCLUDED(mutex_);
  void OnWriteDone(bool ok) final ABSL_LOCKS_EXCLUDED(mutex_);
  void OnCancel() final ABSL_LOCKS_EXCLUDED(mutex_);

  void SchedulePage() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Writes the page's next message, or has another page begun, or ends.
  void GoOn() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void EndBy(absl::Status status, SteadyTime cut_at) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void FinishNow(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const PageCallContext context_;
  const Words words_;
  const SteadyTime request_at_;
  const SteadyTime limit_at_;
  grpc::ByteBuffer request_;

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
