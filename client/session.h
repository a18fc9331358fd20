#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/delivery_state.h"
#include "client/ingest_stream.h"
#include "client/spool.h"
#include "client/wakeup.h"
#include "telemetry/v1/ingest.pb.h"

namespace telemetry::client {

// The settings of a Session. Fields without a comment are those of ProducerOptions.
struct SessionOptions {
  std::string collector;
  access::Credentials credentials;
  std::string client_name;
  absl::Duration linger;
  // Called once the collector accepts records: it has acknowledged some in this session, or none are unacknowledged.
  std::function<void()> on_delivering = nullptr;
  std::function<void(const std::string&)> on_notice;
  std::function<void(const v1::Ack::Refused&)> on_refused;
  std::function<void(uint64_t)> on_committed;
  std::function<void()> on_new_dataset;
};

// A threshold on the log position that wakes the delivering thread once when the log reaches it. While the thread is
// busy or lingers, an Append() costs one atomic read. Thread-safe.
class AppendSignal {
 public:
  explicit AppendSignal(Wakeup* wakeup) : wakeup_(*wakeup) {}

  void Arm(uint64_t position) { position_.store(position); }
  void Appended(uint64_t position) {
    uint64_t armed = position_.load();
    if (position >= armed && position_.compare_exchange_strong(armed, kNever)) wakeup_.Notify();
  }

 private:
  static constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();
  Wakeup& wakeup_;
  std::atomic<uint64_t> position_ = kNever;
};

// One stream from Open to its end: resumes at the collector's position, sends batches within the window and handles
// acknowledgements. All constructor arguments must outlive the session. For the delivering thread only.
class Session {
 public:
  // `plausible_seq` is the highest record number of this log that the collector can have. The session updates it.
  Session(const SessionOptions& options, Spool* spool, DeliveryState* state, Wakeup* wakeup, AppendSignal* signal,
          const std::atomic<bool>* stopping, uint64_t* plausible_seq)
      : options_(options),
        spool_(*spool),
        state_(*state),
        wakeup_(*wakeup),
        signal_(*signal),
        stopping_(*stopping),
        plausible_seq_(*plausible_seq) {}

  // Blocks until the stream ends or `stopping` is set. Returns OK if the next session should start at once (the log was
  // renamed) or if `stopping` is set, else the collector's reason.
  StreamEnd Run();

  // Returns true if the collector has acknowledged records in this session.
  bool made_progress() const { return made_progress_; }
  // Returns true if the collector ended the stream because it was idle and no record has been appended since.
  bool rested() const { return rested_; }

 private:
  // A batch that was sent and is not acknowledged.
  struct InFlight {
    uint64_t last_seq = 0;
    uint64_t record_bytes = 0;
  };

  absl::Status AwaitOpened();
  absl::Status Deliver();
  absl::Status Admit(const v1::Opened& opened);
  absl::Status Rename(uint64_t base_seq, const std::string& why);
  absl::Status ChangeDataset(uint64_t base_seq, const std::string& why);
  absl::Status HandleResponses();
  absl::Status HandleAck(const v1::Ack& ack);
  // Sends the batches that fit into the window. Returns the latest time of the next call.
  absl::StatusOr<SteadyTime> Send();
  absl::StatusOr<bool> LoadBatch();
  absl::Status TooLarge(uint64_t record_bytes) const;
  void SayDelivering();
  size_t RoomInWindow() const;
  // Returns the time to send the unsent records: now if there are many or a thread waits for acknowledgements, else
  // `linger` after the last Ack. Lingering lets records that arrive one by one share a message, and a single late
  // record is still sent at once. Producers that are acknowledged together then send together, and the collector
  // commits their batches together. While batches are in flight, the time is twice `linger` after the last batch.
  SteadyTime LeaveAt(uint64_t unsent_bytes) const;
  uint64_t LocalSeq(uint64_t wire_seq) const { return base_seq_ + wire_seq; }

  const SessionOptions& options_;
  Spool& spool_;
  DeliveryState& state_;
  Wakeup& wakeup_;
  AppendSignal& signal_;
  const std::atomic<bool>& stopping_;
  uint64_t& plausible_seq_;

  std::unique_ptr<IngestStream> stream_;
  bool renamed_ = false;
  bool made_progress_ = false;
  bool opened_ = false;
  bool rested_ = false;
  uint64_t base_seq_ = 0;
  uint64_t window_bytes_ = 0;
  uint64_t max_batch_bytes_ = 0;  // limit of the collector
  uint64_t batch_bytes_ = 0;      // size up to which this session fills a batch
  std::string dataset_id_;

  uint64_t next_seq_ = 0;       // next record to read from the spool
  uint64_t sent_position_ = 0;  // log position before next_seq_
  SteadyTime last_sent_ = kLongAgo;
  SteadyTime last_acked_ = kLongAgo;
  std::optional<SpoolBatch> loaded_;  // a batch that was read but does not fit into the window yet
  std::deque<InFlight> in_flight_;
  uint64_t in_flight_bytes_ = 0;
};

}  // namespace telemetry::client
