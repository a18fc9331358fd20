#include "server/writer/retention.h"

#include <algorithm>
#include <utility>

#include "absl/status/statusor.h"
#include "proto/base/status_macros.h"
#include "proto/log/log.h"

namespace telemetry::writer {
namespace {

// A shorter time is not worth a transaction when the collector ends.
constexpr absl::Duration kLeastAtEnd = absl::Minutes(1);

// While another collector makes a pass, the time until the next try: if that collector dies, this one takes over.
constexpr absl::Duration kRetryElsewhere = absl::Seconds(10);

}  // namespace

Retention::Retention(RetentionOptions options)
    : options_(std::move(options)),
      counted_to_(options_.steady_clock()),
      next_pass_(counted_to_),
      stepped_at_(counted_to_) {}

absl::Duration Retention::Patience(bool busy) const {
  if (passing_ && !busy) return absl::ZeroDuration();
  const SteadyTime due = passing_ ? stepped_at_ + absl::ToChronoNanoseconds(options_.pause) : next_pass_;
  return std::max(absl::FromChrono(due - options_.steady_clock()), absl::ZeroDuration());
}

void Retention::AddRejects(uint64_t bytes) {
  reject_bytes_ += bytes;
  const auto budget = static_cast<uint64_t>(options_.rules.keep_rejects_bytes);
  if (budget > 0 && reject_bytes_ >= budget) next_pass_ = std::min(next_pass_, options_.steady_clock());
}

absl::Status Retention::Step(storage::StoreWriter& writer) {
  absl::Status status = passing_ ? RemoveSome(writer) : CountTime(writer);
  stepped_at_ = options_.steady_clock();
  return status;
}

absl::Status Retention::CountTime(storage::StoreWriter& writer) {
  const SteadyTime now = options_.steady_clock();
  ASSIGN_OR_RETURN(const absl::Duration served, writer.AddServedTime(absl::FromChrono(now - counted_to_)));
  counted_to_ = now;
  next_pass_ = now + absl::ToChronoNanoseconds(options_.interval);
  passing_ = !options_.rules.is_empty();
  pass_ = {};
  reject_bytes_ = 0;
  absl::MutexLock lock(&mutex_);
  state_.served = served;
  return absl::OkStatus();
}

absl::Status Retention::RemoveSome(storage::StoreWriter& writer) {
  ASSIGN_OR_RETURN(const storage::PruneStep step, writer.PruneSome(options_.rules));
  if (step.is_elsewhere) {
    passing_ = false;
    next_pass_ = counted_to_ + absl::ToChronoNanoseconds(std::min(options_.interval, kRetryElsewhere));
    return absl::OkStatus();
  }
  Add(step);
  if (step.done) EndPass(step);
  return absl::OkStatus();
}

void Retention::Add(const storage::PruneStep& step) {
  pass_.attempts += step.attempts.size();
  pass_.rows += static_cast<uint64_t>(step.rows);
  pass_.rejects += static_cast<uint64_t>(step.rejects);
  pass_.bytes += static_cast<uint64_t>(step.bytes);
  absl::MutexLock lock(&mutex_);
  state_.attempts_removed += step.attempts.size();
  state_.bytes_removed += static_cast<uint64_t>(step.bytes);
}

void Retention::EndPass(const storage::PruneStep& last) {
  passing_ = false;
  if (pass_.attempts + pass_.rejects > 0) {
    log::Info("removed old data", {{"attempts", pass_.attempts},
                                   {"rows", pass_.rows},
                                   {"rejects", pass_.rejects},
                                   {"freed_bytes", pass_.bytes},
                                   {"used_bytes", last.used_bytes}});
  }
  const bool too_large = last.counted_bytes > options_.rules.keep_bytes;
  if (too_large && !said_too_large_) {
    log::Warn(
        "the dataset is larger than --keep-bytes, but the remaining attempts are the only ones of their runs or still "
        "arriving",
        {{"used_bytes", last.used_bytes},
         {"counted_bytes", last.counted_bytes},
         {"keep_bytes", options_.rules.keep_bytes}});
  }
  said_too_large_ = too_large;
  absl::MutexLock lock(&mutex_);
  last_pass_ = options_.steady_clock();
}

absl::Status Retention::End(storage::StoreWriter& writer) {
  const absl::Duration passed = absl::FromChrono(options_.steady_clock() - counted_to_);
  return passed < kLeastAtEnd ? absl::OkStatus() : writer.AddServedTime(passed).status();
}

Retention::State Retention::state() const {
  absl::MutexLock lock(&mutex_);
  State state = state_;
  if (last_pass_) state.last_pass = absl::FromChrono(options_.steady_clock() - *last_pass_);
  return state;
}

}  // namespace telemetry::writer
