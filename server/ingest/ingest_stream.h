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
#include "proto/base/steady.h"
#include "server/batch/batch_parser.h"
#include "server/batch/request_outline.h"
#include "server/call/raw_service.h"
#include "server/ingest/ingest_context.h"
#include "server/ingest/parse_queue.h"
#include "server/ingest/stream_registry.h"
#include "server/ingest/stream_replies.h"
#include "telemetry/v1/ingest.pb.h"

namespace telemetry::ingest {

// The stream of one producer. For each message, the stream waits for admission, then parses the message and hands it to
// the writer, piece by piece, before it reads the next one. Results from the writer become Acks; while a write is
// pending, several results are merged into one Ack. A client that does not read its Acks is disconnected when they use
// too much memory.
//
// Callbacks from gRPC's, the writer's and the admission's threads share ownership of the stream. The stream finishes
// when it has an end status, no job is pending elsewhere and nothing is left to write, so that the last Ack is sent
// before the end. A stream whose token was revoked does not wait for its jobs.
class IngestStream final : public call::RawCall, public ProducerStream {
 public:
  static constexpr char kMethod[] = "/telemetry.v1.IngestService/Stream";

  // `context` and `parsers` must outlive the stream.
  IngestStream(const IngestContext& context, ParseQueue& parsers, call::AdmittedCall call);

  // Ends without waiting for the jobs. A message that is being written may take half a second more.
  void End(absl::Status status) override ABSL_LOCKS_EXCLUDED(mutex_);
  void EndAfterCommit(absl::Status status) override ABSL_LOCKS_EXCLUDED(mutex_);
  void CheckTime(SteadyTime now) override ABSL_LOCKS_EXCLUDED(mutex_);
  void Drain() override ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Begin() override { wire().Read(&request_); }
  // The reactions to the operations of wire().
  void OnReadDone(bool ok) override ABSL_LOCKS_EXCLUDED(mutex_);
  void OnWriteDone(bool ok) override ABSL_LOCKS_EXCLUDED(mutex_);
  void OnTimer() override ABSL_LOCKS_EXCLUDED(mutex_);
  void OnCancel() override ABSL_LOCKS_EXCLUDED(mutex_);
  void OnDone() override;

  // The thread that handles a message.
  enum class Thread { kPoller, kParser };
  // Handles the message that was read.
  void HandleMessage(Thread thread) ABSL_LOCKS_EXCLUDED(mutex_);
  void HandleOpen(const v1::Open& open) ABSL_LOCKS_EXCLUDED(mutex_);
  void HandleBatch(batch::BatchOutline batch, Thread thread) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status ReserveWindow(uint64_t bytes) ABSL_LOCKS_EXCLUDED(mutex_);
  // Commits the remaining pieces of the batch, each after its admission.
  void AdmitPieces() ABSL_LOCKS_EXCLUDED(mutex_);
  // Commits the next piece, or ends the batch if `status` is an error. Returns true if the batch has further pieces.
  bool HandleAdmitted(absl::Status status) ABSL_LOCKS_EXCLUDED(mutex_);
  // Parses the next piece and hands it to the writer, which starts a job. Returns how long the producer must wait
  // before its next message is read.
  absl::Duration CommitPiece() ABSL_LOCKS_EXCLUDED(mutex_);

  // The completion callbacks of the jobs. Each ends one job.
  void OnOpened(const storage::OpenOutcome& outcome) ABSL_LOCKS_EXCLUDED(mutex_);
  void OnCommitted(uint64_t bytes, storage::BatchOutcome outcome) ABSL_LOCKS_EXCLUDED(mutex_);

  bool is_finished() ABSL_LOCKS_EXCLUDED(mutex_);
  // Cancels the call without waiting for the client and counts the reason. Returns false if the call was cancelled or
  // finished before.
  bool CutOff(Overdue overdue) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Runs `step` under the lock and finishes the stream if it is due. The stream must not be used after that.
  template <typename Step>
  void Change(Step step) ABSL_LOCKS_EXCLUDED(mutex_);
  void SetEnd(absl::Status status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Sets the end status and counts the end if a deadline has passed.
  void EndIfOverdue(SteadyTime now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::shared_ptr<IngestStream> Self() { return std::static_pointer_cast<IngestStream>(shared_from_this()); }
  // Reads the next message after `delay`.
  void ReadOnAfter(absl::Duration delay) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ReadOn() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void WriteOn() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Writes the Ack with which the next read waits, and begins that read.
  void WriteAndReadOn() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns the status to finish with, once, when the stream is ready to finish.
  std::optional<grpc::Status> TakeFinish() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const IngestContext& context_;
  ParseQueue& parsers_;
  const SteadyTime began_at_ = SteadyNow();

  // The message that is being read or handled, and the parser of its batch. The thread that handles the message starts
  // the next read.
  grpc::ByteBuffer request_;
  std::optional<batch::BatchParser> batch_;
  Admission::Need need_;  // of the piece that is being admitted or was admitted last
  // Set by Open under the lock, before the first batch is read. The thread that handles a message reads them without
  // the lock.
  bool open_ = false;
  std::string producer_id_;
  uint64_t epoch_ = 0;

  absl::Mutex mutex_;
  int jobs_ ABSL_GUARDED_BY(mutex_) = 0;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
  // kNever: the end waits for the jobs. Otherwise: the end waits only for the message that is being written, and until
  // this time at the latest.
  SteadyTime end_at_ ABSL_GUARDED_BY(mutex_) = kNever;
  // CutOff has cancelled the call.
  bool cut_off_ ABSL_GUARDED_BY(mutex_) = false;
  SteadyTime reading_since_ ABSL_GUARDED_BY(mutex_) = began_at_;
  bool is_delayed_ ABSL_GUARDED_BY(mutex_) = false;  // the timer for the next read is set
  // The next message was there when it was read.
  bool is_pipelining_ ABSL_GUARDED_BY(mutex_) = false;
  // The next read begins with the Ack of the last message, which saves a packet.
  bool reads_with_ack_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<absl::Status> end_ ABSL_GUARDED_BY(mutex_);
  uint64_t unacked_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  StreamReplies replies_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace telemetry::ingest
