#include "client/sender.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/record/counted.h"

namespace telemetry::client {
namespace {

// Returns true for errors that retrying does not repair but a person may.
bool NeedsSomebody(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kUnimplemented:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kUnauthenticated:
    case absl::StatusCode::kNotFound:
      return true;
    default:
      return false;
  }
}

// An outage is reported again after pauses that double from the first to the longest.
constexpr absl::Duration kFirstSilence = absl::Seconds(5);
constexpr absl::Duration kLongestSilence = absl::Minutes(1);

// Returns true if another copy of the spool uses the log. This process holds the spool's lock and has the highest epoch
// that was ever chosen in it. A sender that opened the log with a higher epoch, or took over its stream with the same
// one, therefore has another copy of the spool.
bool IsTakenOver(const absl::Status& status) { return absl::IsFailedPrecondition(status) || absl::IsAborted(status); }

// Returns the end of a notice: the request id, which also appears in the collector's log. It differs between retries.
std::string FormatRequestId(const StreamEnd& end) {
  return end.request_id.empty() ? "" : absl::StrCat(" (request ", end.request_id, ")");
}

}  // namespace

Sender::Sender(SenderOptions options, Spool* spool)
    : options_(std::move(options)),
      spool_(*spool),
      state_(spool->state().committed_seq),
      backoff_(options_.retry_first, options_.retry_cap),
      // Spool::Open() has set unproven_seq.
      plausible_seq_(spool->meta().unproven_seq.value_or(spool->state().appended_seq)) {
  options_.session.on_delivering = [this] { SayBack(); };
  thread_ = std::thread([this] { Run(); });
}

Sender::~Sender() {
  stopping_ = true;
  wakeup_.Notify();
  thread_.join();
}

absl::Status Sender::AwaitCommitted(uint64_t seq, SteadyTime deadline) {
  const DeliveryState::Hurry hurry(&state_);
  wakeup_.Notify();
  return state_.AwaitCommitted(seq, deadline);
}

void Sender::Run() {
  while (!stopping_) {
    Session session(options_.session, &spool_, &state_, &wakeup_, &signal_, &stopping_, &plausible_seq_);
    const StreamEnd end = session.Run();
    state_.SetConnected(false);
    if (stopping_) return;
    if (session.rested()) {
      AwaitRecords();
      continue;
    }
    Pause(Judge(end, session.made_progress()));
  }
}

absl::Duration Sender::Judge(const StreamEnd& end, bool made_progress) {
  if (made_progress) backoff_.Reset();
  if (end.status.ok()) return absl::ZeroDuration();
  if (IsTakenOver(end.status)) {
    if (absl::Status status = StartNewLog(end); !status.ok()) state_.SetTrouble(std::move(status));
    return backoff_.Next();
  }
  state_.SetTrouble(end.status);
  SayAway(end);
  const absl::Duration pause = NeedsSomebody(end.status.code()) ? options_.retry_cap : backoff_.Next();
  return std::max(pause, end.retry_delay.value_or(absl::ZeroDuration()));
}

absl::Status Sender::StartNewLog(const StreamEnd& end) {
  const SpoolState log = spool_.state();
  RETURN_IF_ERROR(spool_.StartNewLog(log.committed_seq, spool_.meta().dataset_id));
  plausible_seq_ = log.committed_seq;
  state_.SetCommitted(log.committed_seq);
  Notice(
      absl::StrCat("another copy of this spool delivers the same log (was a snapshot restored, or a machine cloned?): ",
                   end.status.message(), "; a new log begins with ",
                   record::Counted(log.appended_seq - log.committed_seq, "waiting record"), FormatRequestId(end)));
  return absl::OkStatus();
}

void Sender::Pause(absl::Duration pause) {
  const SteadyTime until = SteadyAfter(pause);
  while (!stopping_ && SteadyNow() < until) wakeup_.WaitUntil(until);
}

void Sender::AwaitRecords() {
  while (!stopping_) {
    const SpoolState log = spool_.state();
    if (log.unacked_bytes > 0) return;
    signal_.Arm(log.appended_bytes + 1);
    // The log may have grown before the signal was armed.
    if (spool_.state().unacked_bytes == 0) wakeup_.WaitUntil(kNever);
  }
}

void Sender::SayAway(const StreamEnd& end) {
  const absl::Status& why = end.status;
  const std::string text =
      absl::StrCat("the collector ", options_.session.collector,
                   " cannot accept records now: ", why.ToString(absl::StatusToStringMode::kWithNoExtraData),
                   "; the records stay in the spool");
  const bool is_news = !away_ || (NeedsSomebody(why.code()) && text != said_);
  // While a Drain() waits, it reports the number of unacknowledged records more often.
  if (!is_news && (state_.urgent() || SteadyNow() < say_again_)) return;
  silence_ = away_ ? std::min(2 * silence_, kLongestSilence) : kFirstSilence;
  say_again_ = SteadyAfter(silence_);
  away_ = true;
  said_ = text;
  Notice(text + FormatRequestId(end));
}

void Sender::SayBack() {
  if (std::exchange(away_, false)) Notice(absl::StrCat("the collector ", options_.session.collector, " is back"));
}

}  // namespace telemetry::client
