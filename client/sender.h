#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/backoff.h"
#include "client/delivery_state.h"
#include "client/session.h"
#include "client/spool.h"
#include "client/wakeup.h"

namespace telemetry::client {

// The settings of a Sender. The pauses are those of ProducerOptions.
struct SenderOptions {
  SessionOptions session;
  absl::Duration retry_first;
  absl::Duration retry_cap;
};

// The delivering thread. It runs one session after another and pauses after each that fails. If another copy of the
// spool uses the same log, the sender starts a new log.
class Sender {
 public:
  // Starts the thread. `spool` must outlive the sender.
  Sender(SenderOptions options, Spool* spool);
  // Ends the session and waits for the thread.
  ~Sender();

  // Reports that the log has grown to `position`. May be called from any thread.
  void Appended(uint64_t position) { signal_.Appended(position); }
  // Waits as DeliveryState::AwaitCommitted() does. Meanwhile the sender sends records without lingering. May be called
  // from any thread.
  absl::Status AwaitCommitted(uint64_t seq, SteadyTime deadline);

  DeliveryState& state() { return state_; }
  const DeliveryState& state() const { return state_; }

 private:
  void Run();
  // Handles the end of a session; returns the pause before the next.
  absl::Duration Judge(const StreamEnd& end, bool made_progress);
  // Starts a new log, in which the unacknowledged records are sent again under another producer_id. The collector
  // recognises records by content, so that a record it has already changes nothing.
  absl::Status StartNewLog(const StreamEnd& end);
  void Pause(absl::Duration pause);
  // Blocks until there is a record to deliver or `stopping_` is set.
  void AwaitRecords();
  // Reports that the collector cannot accept records: at the start of an outage, when a new error requires a person to
  // act, and repeatedly with growing pauses while the outage lasts.
  void SayAway(const StreamEnd& end);
  void SayBack();
  void Notice(const std::string& text) const {
    if (options_.session.on_notice) options_.session.on_notice(text);
  }

  SenderOptions options_;
  Spool& spool_;
  DeliveryState state_;
  Wakeup wakeup_;
  AppendSignal signal_{&wakeup_};
  std::atomic<bool> stopping_ = false;

  // Used by the delivering thread only.
  Backoff backoff_;
  uint64_t plausible_seq_;
  bool away_ = false;
  std::string said_;  // text of the last report of SayAway()
  absl::Duration silence_;
  SteadyTime say_again_ = kLongAgo;

  std::thread thread_;  // declared last, because it uses all members above
};

}  // namespace telemetry::client
