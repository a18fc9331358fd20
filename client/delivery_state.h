#pragma once

#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "proto/clock/steady.h"
#include "telemetry/v1/ingest.pb.h"

namespace telemetry::client {

// What the delivering thread tells the others, and how they wait for it. Thread-safe.
class DeliveryState {
 public:
  struct Snapshot {
    uint64_t refused = 0;
    uint64_t new_rows = 0;
    uint64_t known_rows = 0;
    uint64_t connections = 0;
    bool connected = false;
  };

  // While one lives somebody waits for acknowledgements, and records should leave at once.
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

  // For the delivering thread.
  void SetConnected(bool connected);
  void SetCommitted(uint64_t seq);
  void AddOutcome(const v1::Ack& ack);
  void SetTrouble(absl::Status why);  // what stands in the way now; OK: nothing

  // Returns when `seq` is acknowledged. DEADLINE_EXCEEDED with what stands in the way; or at once the trouble of the
  // last attempt to connect, where that is UNAUTHENTICATED or PERMISSION_DENIED, which waiting does not mend.
  absl::Status AwaitCommitted(uint64_t seq, SteadyTime deadline);

  // Changes with each acknowledgement.
  uint64_t version() const;
  void AwaitVersionAfter(uint64_t version, SteadyTime deadline);

  bool urgent() const;
  Snapshot snapshot() const;

 private:
  void AddHurry(int count);

  mutable absl::Mutex mu_;
  SteadyCondition changed_;  // what AwaitCommitted and AwaitVersionAfter look at
  Snapshot snapshot_ ABSL_GUARDED_BY(mu_);
  uint64_t committed_seq_ ABSL_GUARDED_BY(mu_);
  uint64_t version_ ABSL_GUARDED_BY(mu_) = 0;
  int hurries_ ABSL_GUARDED_BY(mu_) = 0;
  absl::Status trouble_ ABSL_GUARDED_BY(mu_);
};

}  // namespace telemetry::client
