#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "proto/clock/steady.h"
#include "server/batch/batch_parser.h"
#include "server/batch/request_outline.h"
#include "server/call/raw_service.h"
#include "server/ingest/ingest_context.h"
#include "server/ingest/stream_registry.h"
#include "server/ingest/stream_replies.h"
#include "server/ingest/thread_pool.h"
#include "telemetry/v1/ingest.pb.h"

namespace telemetry::collector {

// One producer's stream. Reads a message, has it admitted, parses it, hands it to the writer, piece by piece, and reads
// on; the writer's answers become Acks, several in one while a write is under way. A client that does not read its Acks
// is cut off when they take too much room.
//
// Callbacks come from gRPC's threads, the writer's and the admission's, and share the stream. It finishes when it has
// an end status, no job is outstanding elsewhere and nothing is left to write, so that the last Ack goes out before the
// end; a stream whose token was revoked does not wait for its jobs.
class IngestStream final : public RawCall, public ProducerStream {
 public:
  static constexpr char kMethod[] = "/telemetry.v1.IngestService/Stream";

  // `context` and `parsers` must outlive the stream.
  IngestStream(const IngestContext& context, ThreadPool& parsers, AdmittedCall call);

  // Ends without the jobs, and after half a second without the message that is being sent.
  void End(absl::Status status) override ABSL_LOCKS_EXCLUDED(mutex_);
  void EndAfterCommit(absl::Status status) override ABSL_LOCKS_EXCLUDED(mutex_);
  void CheckTime(SteadyTime now) override ABSL_LOCKS_EXCLUDED(mutex_);
  void Drain() override ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Begin() override { wire().Read(&request_); }
  // The reactions.
  void OnReadDone(bool ok) override ABSL_LOCKS_EXCLUDED(mutex_);
  void OnWriteDone(bool ok) override ABSL_LOCKS_EXCLUDED(mutex_);
  void OnTimer() override ABSL_LOCKS_EXCLUDED(mutex_);
  void OnCancel() override ABSL_LOCKS_EXCLUDED(mutex_);
  void OnDone() override;

  // What a read message asks for.
  void HandleMessage() ABSL_LOCKS_EXCLUDED(mutex_);
  void HandleOpen(const v1::Open& open) ABSL_LOCKS_EXCLUDED(mutex_);
  void HandleBatch(BatchOutline batch) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status ReserveWindow(uint64_t bytes) ABSL_LOCKS_EXCLUDED(mutex_);
  // Has the batch's next piece admitted; OnAdmitted goes on with it.
  void AdmitPiece() ABSL_LOCKS_EXCLUDED(mutex_);
  // Parses the next piece and hands it to the writer: a job. Returns how long the producer has to wait afterwards.
  absl::Duration CommitPiece() ABSL_LOCKS_EXCLUDED(mutex_);

  // The answers to a job: each ends it.
  void OnOpened(absl::StatusOr<uint64_t> committed_seq) ABSL_LOCKS_EXCLUDED(mutex_);
  void OnAdmitted(absl::Status status) ABSL_LOCKS_EXCLUDED(mutex_);
  void OnCommitted(uint64_t bytes, storage::BatchOutcome outcome) ABSL_LOCKS_EXCLUDED(mutex_);

  bool is_finished() ABSL_LOCKS_EXCLUDED(mutex_);
  // Gives the client up; returns false if that has been done.
  bool CutOff() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Takes a step under the lock, and finishes the stream when that was its last: nothing may be touched afterwards.
  template <typename Step>
  void Change(Step step) ABSL_LOCKS_EXCLUDED(mutex_);
  void SetEnd(absl::Status status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Sets the end of a stream that takes too long.
  Overdue FindOverdue(SteadyTime now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::shared_ptr<IngestStream> Self() { return std::static_pointer_cast<IngestStream>(shared_from_this()); }
  // Reads on after a while.
  void ReadOnAfter(absl::Duration delay) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ReadOn() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void WriteOn() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The status to finish with, once.
  std::optional<grpc::Status> TakeFinish() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const IngestContext& context_;
  ThreadPool& parsers_;
  const SteadyTime began_at_ = SteadyNow();

  // Of the one message that is being read or handled; whoever handles it reads on afterwards.
  grpc::ByteBuffer request_;
  std::optional<BatchParser> batch_;
  // Set by Open, under the lock, before the first batch is read; read without it by whoever handles a message.
  bool open_ = false;
  std::string producer_id_;
  uint64_t epoch_ = 0;

  absl::Mutex mutex_;
  int jobs_ ABSL_GUARDED_BY(mutex_) = 0;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
  // kNever: the end waits for the jobs. Else it waits only for the message that is being written, until then.
  SteadyTime end_at_ ABSL_GUARDED_BY(mutex_) = kNever;
  // The client was given up.
  bool cut_off_ ABSL_GUARDED_BY(mutex_) = false;
  SteadyTime reading_since_ ABSL_GUARDED_BY(mutex_) = began_at_;
  bool is_delayed_ ABSL_GUARDED_BY(mutex_) = false;  // the timer is set
  std::optional<absl::Status> end_ ABSL_GUARDED_BY(mutex_);
  uint64_t unacked_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  StreamReplies replies_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace telemetry::collector
