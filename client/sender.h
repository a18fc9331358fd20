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

struct SenderOptions {
  SessionOptions session;
  absl::Duration retry_first;
  absl::Duration retry_cap;
};

// The delivering thread: one session after the other, for ever, with a pause between those that fail. When another copy
// of the spool speaks for its log, it goes on as a new log.
class Sender {
 public:
  // `spool` outlives the sender. The thread begins at once.
  Sender(SenderOptions options, Spool* spool);
  // Ends the session and waits for the thread.
  ~Sender();

  // Any thread: the log has grown to this position.
  void Appended(uint64_t position) { signal_.Appended(position); }
  // Any thread: as DeliveryState::AwaitCommitted, and what waits is sent without lingering.
  absl::Status AwaitCommitted(uint64_t seq, SteadyTime deadline);

  DeliveryState& state() { return state_; }
  const DeliveryState& state() const { return state_; }

 private:
  void Run();
  // Acts on the end of a session; returns the pause before the next.
  absl::Duration Judge(const StreamEnd& end, bool made_progress);
  // The records that are not acknowledged are sent again, under another producer_id. The collector knows their
  // contents, so that one which it has already changes nothing.
  absl::Status StartNewLog(const StreamEnd& end);
  void Pause(absl::Duration pause);
  // Returns when there is a record to deliver, or `stopping_`.
  void AwaitRecords();
  // At the beginning of an outage, when what needs somebody to act is something new, and now and then while it lasts.
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

  // The thread's own.
  Backoff backoff_;
  uint64_t plausible_seq_;
  bool away_ = false;
  std::string said_;  // what SayAway said last
  absl::Duration silence_;
  SteadyTime say_again_ = kLongAgo;

  std::thread thread_;  // last: it uses all of the above
};

}  // namespace telemetry::client
