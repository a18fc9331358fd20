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
#include "proto/base/steady.h"
#include "server/call/raw_service.h"
#include "server/dataset/fair_pool.h"
#include "server/dataset/reader_pool.h"

namespace telemetry::dataset {

// The objects and timeouts that all calls of a kind share. The objects must outlive the calls.
struct PageCallContext {
  FairPool& pool;
  ReaderPool& readers;
  // The longest time until the request arrives.
  absl::Duration request_timeout;
  // The longest time that a sent message may remain unread; then the client is disconnected.
  absl::Duration unread_timeout;
  // The longest time for the entire call.
  absl::Duration call_timeout;
};

// A call with one request, whose response is a stream of messages that are produced in pages. A pool thread begins each
// page. A page stays in memory until the client has received it; meanwhile the call uses neither a thread nor a reader.
class PageCall : public call::RawCall {
 public:
  // Ends the call. Waits up to half a second for a pending write, so that the client receives the status.
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
  // The status messages, which must be literals: for a call that ends because the collector shuts down, and for a call
  // that exceeded call_timeout.
  struct Words {
    const char* draining;
    const char* overdue;
  };

  PageCall(const PageCallContext& context, call::AdmittedCall call, const Words& words);

  // Parses the request. An error ends the call.
  virtual absl::Status TakeRequest(const grpc::ByteBuffer& request) = 0;
  // Begins the next page. The page is passed to Deliver from this thread or another one.
  virtual void BeginPage() = 0;
  // Called with the end status before the client receives it. Must not block.
  virtual void OnEnd(const absl::Status& status) = 0;

  // Sends the page that was begun, or ends the call with an error.
  void Deliver(absl::StatusOr<Page> page) ABSL_LOCKS_EXCLUDED(mutex_);
  bool has_ended() ABSL_LOCKS_EXCLUDED(mutex_);
  ReaderPool& readers() const { return context_.readers; }

 private:
  void Begin() final { wire().Read(&request_); }
  // The reactions to the operations of wire().
  void OnReadDone(bool ok) final ABSL_LOCKS_EXCLUDED(mutex_);
  void OnWriteDone(bool ok) final ABSL_LOCKS_EXCLUDED(mutex_);
  void OnCancel() final ABSL_LOCKS_EXCLUDED(mutex_);

  void SchedulePage() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Writes the next message of the page, or begins another page, or ends the call.
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
  // The end status that waits for a pending write, until cut_at_ at the latest.
  std::optional<absl::Status> end_ ABSL_GUARDED_BY(mutex_);
  SteadyTime cut_at_ ABSL_GUARDED_BY(mutex_) = kNever;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace telemetry::dataset
