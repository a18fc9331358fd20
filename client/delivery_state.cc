#include "client/delivery_state.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/record/counted.h"

namespace telemetry::client {

namespace {

bool IsShutOut(const absl::Status& trouble) {
  return absl::IsUnauthenticated(trouble) || absl::IsPermissionDenied(trouble);
}

}  // namespace

void DeliveryState::SetConnected(bool connected) {
  absl::MutexLock lock(&mutex_);
  if (connected && !snapshot_.connected) ++snapshot_.connections;
  snapshot_.connected = connected;
}

void DeliveryState::SetCommitted(uint64_t seq) {
  absl::MutexLock lock(&mutex_);
  committed_seq_ = seq;
  ++version_;
  changed_.NotifyAll();
}

void DeliveryState::AddOutcome(const v1::Ack& ack) {
  absl::MutexLock lock(&mutex_);
  snapshot_.refused += static_cast<uint64_t>(ack.rejects_size());
  snapshot_.new_rows += ack.new_rows();
  snapshot_.known_rows += ack.known_rows();
}

void DeliveryState::SetTrouble(absl::Status why) {
  absl::MutexLock lock(&mutex_);
  trouble_ = std::move(why);
  if (IsShutOut(trouble_)) changed_.NotifyAll();
}

absl::Status DeliveryState::AwaitCommitted(uint64_t seq, SteadyTime deadline) {
  absl::MutexLock lock(&mutex_);
  const auto settled = [this, seq]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return committed_seq_ >= seq || (!snapshot_.connected && IsShutOut(trouble_));
  };
  const bool in_time = changed_.Await(mutex_, deadline, settled);
  if (committed_seq_ >= seq) return absl::OkStatus();
  const std::string text = absl::StrCat(
      record::Counted(seq - committed_seq_, "record"), " waiting in the spool: ",
      trouble_.ok() ? (snapshot_.connected ? "the collector has not acknowledged them yet" : "not connected yet")
                    : trouble_.message());
  return in_time && !trouble_.ok() ? absl::Status(trouble_.code(), text) : absl::DeadlineExceededError(text);
}

uint64_t DeliveryState::version() const {
  absl::MutexLock lock(&mutex_);
  return version_;
}

void DeliveryState::AwaitVersionAfter(uint64_t version, SteadyTime deadline) {
  absl::MutexLock lock(&mutex_);
  const auto changed = [this, version]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return version_ != version; };
  changed_.Await(mutex_, deadline, changed);
}

bool DeliveryState::urgent() const {
  absl::MutexLock lock(&mutex_);
  return hurries_ > 0;
}

void DeliveryState::AddHurry(int count) {
  absl::MutexLock lock(&mutex_);
  hurries_ += count;
}

DeliveryState::Snapshot DeliveryState::snapshot() const {
  absl::MutexLock lock(&mutex_);
  return snapshot_;
}

}  // namespace telemetry::client
