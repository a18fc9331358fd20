#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "proto/base/steady.h"
#include "telemetry/v1/ingest.grpc.pb.h"

namespace telemetry::faults {

// A well-behaved producer that sends one record of its ledger every 10 ms without waiting for earlier acknowledgements,
// so that a late Ack does not delay the next sample. When its stream ends, the client opens a new one and resends the
// unacknowledged records; the time in between counts as time to an Ack. Thread-safe.
class PacedClient {
 public:
  // `number` is the producer's number in the ledger (MakeRecord).
  PacedClient(std::string address, int number);
  ~PacedClient();
  PacedClient(const PacedClient&) = delete;
  PacedClient& operator=(const PacedClient&) = delete;

  // Returns the times from sending to Ack since the last call, in milliseconds. An unacknowledged record counts with
  // the time that it has waited so far.
  std::vector<double> TakeTimesMs() ABSL_LOCKS_EXCLUDED(mutex_);
  // Stops sending and waits until all records are acknowledged. Returns false if they are not within `patience`.
  bool Finish(absl::Duration patience) ABSL_LOCKS_EXCLUDED(mutex_);

  // Returns the last acknowledged sequence number.
  uint64_t acknowledged() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns the statuses of the streams that ended.
  std::vector<std::string> ended_streams() const ABSL_LOCKS_EXCLUDED(mutex_);
  int number() const { return number_; }

 private:
  using Stream = grpc::ClientReaderWriter<v1::StreamRequest, v1::StreamResponse>;
  struct Sent {
    uint64_t seq;
    SteadyTime time;
  };

  void Run();
  // Sends and receives over one stream until it ends or all records are acknowledged.
  void UseOneStream() ABSL_LOCKS_EXCLUDED(mutex_);
  bool Open(Stream& stream) ABSL_LOCKS_EXCLUDED(mutex_);
  bool Send(Stream& stream, uint64_t seq) const;
  // Waits until the next record is due and returns its sequence number. Returns 0 if no more records are to be sent.
  uint64_t AwaitNext() ABSL_LOCKS_EXCLUDED(mutex_);
  void Acknowledge(uint64_t seq) ABSL_LOCKS_EXCLUDED(mutex_);
  bool IsDone() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Sets the context that the destructor cancels. Returns false if the destructor has already cancelled the stream.
  bool SetContext(grpc::ClientContext* context) ABSL_LOCKS_EXCLUDED(mutex_);

  const std::string address_;
  const int number_;
  mutable absl::Mutex mutex_;
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  grpc::ClientContext* context_ ABSL_GUARDED_BY(mutex_) = nullptr;
  bool finishing_ ABSL_GUARDED_BY(mutex_) = false;
  uint64_t acknowledged_ ABSL_GUARDED_BY(mutex_) = 0;
  SteadyTime next_time_ ABSL_GUARDED_BY(mutex_) = SteadyNow();
  uint64_t last_seq_ ABSL_GUARDED_BY(mutex_) = 0;
  std::deque<Sent> waiting_ ABSL_GUARDED_BY(mutex_);
  std::vector<double> times_ms_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> ended_streams_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace telemetry::faults
