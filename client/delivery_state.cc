#include "client/delivery_state.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace telemetry::client {

void DeliveryState::SetConnected(bool connected) {
  absl::MutexLock lock(&mu_);
  if (connected && !snapshot_.connected) ++snapshot_.connections;
  snapshot_.connected = connected;
}

void DeliveryState::SetCommitted(uint64_t seq) {
  absl::MutexLock lock(&mu_);
  committed_seq_ = seq;
  ++version_;
  changed_.NotifyAll();
}

void DeliveryState::AddOutcome(const v1::Ack& ack) {
  absl::MutexLock lock(&mu_);
  snapshot_.refused += static_cast<uint64_t>(ack.rejects_size());
  snapshot_.new_rows += ack.new_rows();
  snapshot_.known_rows += ack.known_rows();
}

void DeliveryState::SetTrouble(absl::Status why) {
  absl::MutexLock lock(&mu_);
  if (absl::IsUnauthenticated(why) || absl::IsPermissionDenied(why)) {
    ++times_shut_out_;
    changed_.NotifyAll();
  }
  trouble_ = std::move(why);
}

absl::Status DeliveryState::AwaitCommitted(uint64_t seq, SteadyTime deadline) {
  absl::MutexLock lock(&mu_);
  const uint64_t shut_out_before = times_shut_out_;
  const auto settled = [this, seq, shut_out_before]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return committed_seq_ >= seq || times_shut_out_ != shut_out_before;
  };
  const bool in_time = changed_.Await(mu_, deadline, settled);
  if (committed_seq_ >= seq) return absl::OkStatus();
  const std::string text = absl::StrCat(
      seq - committed_seq_, " record(s) wait in the spool: ",
      trouble_.ok() ? (snapshot_.connected ? "the collector has not acknowledged them yet" : "not connected yet")
                    : trouble_.message());
  return in_time && !trouble_.ok() ? absl::Status(trouble_.code(), text) : absl::DeadlineExceededError(text);
}

uint64_t DeliveryState::version() const {
  absl::MutexLock lock(&mu_);
  return version_;
}

void DeliveryState::AwaitVersionAfter(uint64_t version, SteadyTime deadline) {
  absl::MutexLock lock(&mu_);
  const auto changed = [this, version]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return version_ != version; };
  changed_.Await(mu_, deadline, changed);
}

bool DeliveryState::urgent() const {
  absl::MutexLock lock(&mu_);
  return hurries_ > 0;
}

void DeliveryState::AddHurry(int count) {
  absl::MutexLock lock(&mu_);
  hurries_ += count;
}

DeliveryState::Snapshot DeliveryState::snapshot() const {
  absl::MutexLock lock(&mu_);
  return snapshot_;
}

}  // namespace telemetry::client
