#pragma once

#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "proto/base/steady.h"
#include "telemetry/v1/ingest.pb.h"

namespace telemetry::client {

// The progress of delivery, which the delivering thread publishes and other threads wait for. Thread-safe.
class DeliveryState {
 public:
  // Counters since this process began.
  struct Snapshot {
    uint64_t refused = 0;      // records that the collector put into its rejects
    uint64_t new_rows = 0;     // measurements that were new to the collector
    uint64_t known_rows = 0;   // measurements that the collector had already
    uint64_t connections = 0;  // streams that the collector has accepted
    bool connected = false;
  };

  // Marks that a thread waits for acknowledgements. While an object exists, the sender sends records without lingering.
  class Hurry {
   public:
    explicit Hurry(DeliveryState* state) : state_(*state) { state_.AddHurry(1); }
    ~Hurry() { state_.AddHurry(-1); }
    Hurry(const Hurry&) = delete;
    Hurry& operator=(const Hurry&) = delete;

   private:
    DeliveryState& state_;
  };

  explicit DeliveryState(uint64_t committed_seq) : committed_seq_(committed_seq) {}

  // The methods of the delivering thread.
  void SetConnected(bool connected);
  void SetCommitted(uint64_t seq);
  void AddOutcome(const v1::Ack& ack);
  void SetTrouble(absl::Status why);  // SetTrouble() stores the current reason that delivery fails; OK if it does not

  // Blocks until `seq` is acknowledged. Returns DEADLINE_EXCEEDED at `deadline`, with the current trouble in the
  // message. Returns UNAUTHENTICATED or PERMISSION_DENIED at once if the last attempt to connect failed with it,
  // because waiting does not repair credentials.
  absl::Status AwaitCommitted(uint64_t seq, SteadyTime deadline);

  // Returns a number that changes with each acknowledgement.
  uint64_t version() const;
  // Blocks until version() differs from `version`, or until `deadline`.
  void AwaitVersionAfter(uint64_t version, SteadyTime deadline);

  // Returns true while a Hurry exists.
  bool urgent() const;
  Snapshot snapshot() const;

 private:
  void AddHurry(int count);

  mutable absl::Mutex mutex_;
  SteadyCondition changed_;  // notified when the state changes that AwaitCommitted() and AwaitVersionAfter() wait for
  Snapshot snapshot_ ABSL_GUARDED_BY(mutex_);
  uint64_t committed_seq_ ABSL_GUARDED_BY(mutex_);
  uint64_t version_ ABSL_GUARDED_BY(mutex_) = 0;
  int hurries_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Status trouble_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace telemetry::client
