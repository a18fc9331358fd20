#include "client/sender.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace telemetry::client {
namespace {

// Retrying does not mend these; somebody may.
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

// What a notice ends with, so that it meets the line of the collector's log. It differs from try to try.
std::string RequestOf(const StreamEnd& end) {
  return end.request_id.empty() ? "" : absl::StrCat(" (request ", end.request_id, ")");
}

}  // namespace

Sender::Sender(SenderOptions options, Spool* spool)
    : options_(std::move(options)),
      spool_(*spool),
      state_(spool->state().committed_seq),
      backoff_(options_.retry_first, options_.retry_cap),
      // Opening the spool has set it.
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
    const std::optional<absl::Duration> pause = Judge(end, session.made_progress());
    if (!pause.has_value()) return;
    Pause(*pause);
  }
}

std::optional<absl::Duration> Sender::Judge(const StreamEnd& end, bool made_progress) {
  if (made_progress) backoff_.Reset();
  if (end.status.ok()) return absl::ZeroDuration();
  if (absl::IsFailedPrecondition(end.status)) {
    const absl::Status fenced = absl::FailedPreconditionError(
        absl::StrCat("another process took over this spool's log: ", end.status.message(), RequestOf(end)));
    Notice(std::string(fenced.message()));
    state_.SetFinal(fenced);
    return std::nullopt;
  }
  state_.SetTrouble(end.status);
  SayAway(end);
  const absl::Duration pause = NeedsSomebody(end.status.code()) ? options_.retry_cap : backoff_.Next();
  return std::max(pause, end.retry_delay.value_or(absl::ZeroDuration()));
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
    // It may have grown before the signal was armed.
    if (spool_.state().unacked_bytes == 0) wakeup_.WaitUntil(kNever);
  }
}

// Once per outage, and again when what needs somebody to act is something new.
void Sender::SayAway(const StreamEnd& end) {
  const absl::Status& why = end.status;
  const std::string text =
      absl::StrCat("the collector ", options_.session.collector,
                   " cannot take records now: ", why.ToString(absl::StatusToStringMode::kWithNoExtraData),
                   "; they wait in the spool");
  if (away_ && (!NeedsSomebody(why.code()) || text == said_)) return;
  away_ = true;
  said_ = text;
  Notice(text + RequestOf(end));
}

void Sender::SayBack() {
  if (std::exchange(away_, false)) Notice(absl::StrCat("the collector ", options_.session.collector, " is back"));
}

}  // namespace telemetry::client
