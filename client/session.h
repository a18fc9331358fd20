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

struct SessionOptions {
  std::string collector;
  access::Credentials credentials;
  std::string client_name;
  absl::Duration linger;
  // The collector takes records: it has acknowledged some in this session, or none wait.
  std::function<void()> on_delivering = nullptr;
  std::function<void(const std::string&)> on_notice;
  std::function<void(const v1::Ack::Refused&)> on_refused;
  std::function<void(uint64_t)> on_committed;
  std::function<void()> on_new_dataset;
};

// Wakes the delivering thread when the log has grown up to the position that it waits for, and only then: an Append
// while it is busy or lingers costs one atomic read. Thread-safe.
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

// One stream's life: Open, resume where the collector says, batches within its window, acknowledgements. Everything
// outlives the session. For the delivering thread.
class Session {
 public:
  // `plausible_seq`: the last record that a collector can possibly have of this log; kept up to date.
  Session(const SessionOptions& options, Spool* spool, DeliveryState* state, Wakeup* wakeup, AppendSignal* signal,
          const std::atomic<bool>* stopping, uint64_t* plausible_seq)
      : options_(options),
        spool_(*spool),
        state_(*state),
        wakeup_(*wakeup),
        signal_(*signal),
        stopping_(*stopping),
        plausible_seq_(*plausible_seq) {}

  // Runs until the stream ends or `stopping`. OK: open another session at once (the log was renamed, or stopping).
  // Else the reason, as the collector gave it.
  StreamEnd Run();

  // Acknowledgements came in this session.
  bool made_progress() const { return made_progress_; }
  // The collector ended the stream because there was nothing to say for long, and there still is not.
  bool rested() const { return rested_; }

 private:
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
  // Sends what may be sent now; returns when to look again at the latest.
  absl::StatusOr<SteadyTime> Send();
  absl::StatusOr<bool> LoadBatch();
  absl::Status TooLarge(uint64_t record_bytes) const;
  void SayDelivering();
  size_t RoomInWindow() const;
  // Returns when the unsent records should leave: at once when there are many or somebody waits, else `linger` after
  // the last Ack, so that records that come one by one share a message, and one that comes alone does not wait. Those
  // who are acknowledged together then send together, and the collector commits once for all of them. While no Ack
  // comes: twice `linger` after the last batch.
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
  uint64_t max_batch_bytes_ = 0;  // the collector's
  uint64_t batch_bytes_ = 0;      // what a batch is filled up to here
  std::string dataset_id_;

  uint64_t next_seq_ = 0;       // to be read next
  uint64_t sent_position_ = 0;  // log position in front of next_seq_
  SteadyTime last_sent_ = kLongAgo;
  SteadyTime last_acked_ = kLongAgo;
  std::optional<SpoolBatch> loaded_;  // read, and larger than the window's room
  std::deque<InFlight> in_flight_;
  uint64_t in_flight_bytes_ = 0;
};

}  // namespace telemetry::client
