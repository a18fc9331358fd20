#include "server/web/summary/refresher.h"

#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/time/clock.h"
#include "proto/base/status_macros.h"
#include "server/storage/sql/transaction.h"

namespace telemetry::web::summary {
namespace {

using storage::sql::Transaction;

// The time of a transaction, after which it ends with the attempt in work.
constexpr absl::Duration kStep = absl::Milliseconds(50);
// The time that one call of Refresh spends on old attempts, so that new ones are seen in between.
constexpr absl::Duration kOldAttempts = absl::Milliseconds(800);
constexpr int64_t kListed = 256;
constexpr int64_t kSwept = 256;
constexpr int64_t kMostGrowing = 256;
// An attempt that has not changed for this long is left to the sweep.
constexpr absl::Duration kGrows = absl::Minutes(10);
// An attempt that took T to summarise rests for this many times T.
constexpr int kRestFactor = 20;
constexpr size_t kMostRests = 4096;

int64_t NowUs() { return absl::ToUnixMicros(absl::Now()); }

}  // namespace

Refresher::Refresher(storage::sql::Database& dataset, storage::sql::Database& scratch)
    : dataset_(dataset),
      scratch_(scratch),
      texts_(scratch),
      attempts_(dataset, scratch, texts_),
      runs_(dataset, scratch, texts_),
      steps_(scratch),
      count_attempts_(dataset, "SELECT count(*) FROM attempts") {}

absl::StatusOr<bool> Refresher::Refresh() {
  changed_ = false;
  RETURN_IF_ERROR(InTransactions([this] { return FindNew(); }));
  RETURN_IF_ERROR(InTransactions([this] { return LookAtGrowing(); }));
  const SteadyTime end = SteadyAfter(kOldAttempts);
  while (!progress_.complete && SteadyNow() < end) {
    RETURN_IF_ERROR(InTransactions([this] { return FindOld(); }));
  }
  if (progress_.complete) RETURN_IF_ERROR(InTransactions([this] { return Sweep(); }));
  if (changed_) ++progress_.version;
  return changed_;
}

absl::Status Refresher::InTransactions(const std::function<absl::Status()>& step) {
  ASSIGN_OR_RETURN(const Transaction reading, Transaction::BeginRead(dataset_));
  ASSIGN_OR_RETURN(Transaction writing, Transaction::BeginWrite(scratch_));
  const Progress before = progress_;
  const auto places = std::tuple(newest_, oldest_, swept_);
  absl::Status status = step();
  if (status.ok()) status = Settle();
  if (status.ok()) status = writing.Commit();
  changed_runs_.clear();
  seen_runs_.clear();
  if (status.ok()) return status;
  progress_ = before;
  std::tie(newest_, oldest_, swept_) = places;
  texts_.Forget();
  return status;
}

absl::Status Refresher::FindNew() {
  ASSIGN_OR_RETURN(const std::optional<int64_t> total, count_attempts_.QueryInt());
  progress_.total_attempts = total.value_or(0);
  if (oldest_ == 0) return absl::OkStatus();  // FindOld begins with the newest
  ASSIGN_OR_RETURN(const std::vector<AttemptState> fresh, attempts_.ListAfter(newest_, kListed));
  const SteadyTime end = SteadyAfter(kStep);
  for (const AttemptState& attempt : fresh) {
    RETURN_IF_ERROR(Update(attempt));
    newest_ = attempt.key.attempt;
    ++progress_.done_attempts;
    if (SteadyNow() > end) break;
  }
  return absl::OkStatus();
}

absl::Status Refresher::FindOld() {
  const int64_t before = oldest_ == 0 ? std::numeric_limits<int64_t>::max() : oldest_;
  ASSIGN_OR_RETURN(const std::vector<AttemptState> old, attempts_.ListBefore(before, kListed));
  const SteadyTime end = SteadyAfter(kStep);
  bool is_last = true;
  for (const AttemptState& attempt : old) {
    is_last = &attempt == &old.back();
    RETURN_IF_ERROR(Update(attempt));
    if (oldest_ == 0) newest_ = attempt.key.attempt;
    oldest_ = attempt.key.attempt;
    ++progress_.done_attempts;
    if (SteadyNow() > end) break;
  }
  if (!is_last || static_cast<int64_t>(old.size()) == kListed) return absl::OkStatus();
  if (oldest_ == 0) oldest_ = 1;  // an empty dataset: every attempt will be new
  progress_.complete = true;
  changed_ = true;
  return absl::OkStatus();
}

absl::Status Refresher::LookAtGrowing() {
  const int64_t since = NowUs() - absl::ToInt64Microseconds(kGrows);
  ASSIGN_OR_RETURN(const std::vector<AttemptState> stored, attempts_.Growing(since, kMostGrowing));
  const SteadyTime end = SteadyAfter(kStep);
  for (const AttemptState& attempt : stored) {
    if (SteadyNow() > end) break;
    if (const auto rest = rests_.find(attempt.key.attempt); rest != rests_.end() && SteadyNow() < rest->second)
      continue;
    ASSIGN_OR_RETURN(std::optional<AttemptState> now, attempts_.Find(attempt.key.attempt));
    if (!now.has_value()) {
      RETURN_IF_ERROR(Remove(attempt));
      continue;
    }
    ASSIGN_OR_RETURN(now->size, attempts_.Measure(now->key));
    seen_runs_.insert(attempt.key.run);
    if (*now == attempt) continue;
    changed_runs_.insert(attempt.key.run);
    RETURN_IF_ERROR(Update(*now));
  }
  return absl::OkStatus();
}

// Merges the attempts of the dataset with those that are stored, both in the order of their keys.
absl::Status Refresher::Sweep() {
  ASSIGN_OR_RETURN(const std::vector<AttemptState> now, attempts_.ListAfter(swept_, kSwept));
  const bool is_end = static_cast<int64_t>(now.size()) < kSwept || now.back().key.attempt >= newest_;
  const int64_t last = is_end ? newest_ : now.back().key.attempt;
  ASSIGN_OR_RETURN(const std::vector<AttemptState> stored, attempts_.Stored(swept_, last));
  const SteadyTime end = SteadyAfter(kStep);
  auto old = stored.begin();
  for (const AttemptState& attempt : now) {
    const int64_t key = attempt.key.attempt;
    if (key > last) break;
    for (; old != stored.end() && old->key.attempt < key; ++old) RETURN_IF_ERROR(Remove(*old));
    const bool is_stored = old != stored.end() && old->key.attempt == key;
    RETURN_IF_ERROR(SweepAttempt(attempt, is_stored ? &*old : nullptr));
    if (is_stored) ++old;
    swept_ = key;
    if (SteadyNow() > end) return absl::OkStatus();
  }
  for (; old != stored.end(); ++old) RETURN_IF_ERROR(Remove(*old));
  swept_ = is_end ? 0 : last;
  return absl::OkStatus();
}

absl::Status Refresher::SweepAttempt(AttemptState attempt, const AttemptState* stored) {
  ASSIGN_OR_RETURN(attempt.size, attempts_.Measure(attempt.key));
  seen_runs_.insert(attempt.key.run);
  if (stored == nullptr) ++progress_.done_attempts;
  if (stored != nullptr && *stored == attempt) return absl::OkStatus();
  if (stored != nullptr) changed_runs_.insert(stored->key.run);
  return Update(attempt);
}

absl::Status Refresher::Update(const AttemptState& attempt) {
  const SteadyTime begin = SteadyNow();
  // The time of an old attempt's last change is not known; its rows tell the least time.
  RETURN_IF_ERROR(attempts_.Store(attempt.key, progress_.complete ? std::optional<int64_t>(NowUs()) : std::nullopt));
  if (rests_.size() > kMostRests) rests_.clear();
  rests_[attempt.key.attempt] = SteadyAfter(ElapsedSince(begin) * kRestFactor);
  changed_runs_.insert(attempt.key.run);
  changed_ = true;
  return absl::OkStatus();
}

absl::Status Refresher::Remove(const AttemptState& attempt) {
  RETURN_IF_ERROR(attempts_.Remove(attempt.key.attempt));
  --progress_.done_attempts;
  changed_runs_.insert(attempt.key.run);
  changed_ = true;
  return absl::OkStatus();
}

absl::Status Refresher::Settle() {
  std::set<int64_t> runs = seen_runs_;
  runs.insert(changed_runs_.begin(), changed_runs_.end());
  std::set<SeriesKey> series;
  for (const int64_t run : runs) RETURN_IF_ERROR(SettleRun(run, &series));
  for (const SeriesKey& key : series) RETURN_IF_ERROR(steps_.Detect(key));
  return absl::OkStatus();
}

absl::Status Refresher::SettleRun(int64_t run, std::set<SeriesKey>* series) {
  // A removed run keeps its series, whose steps may have to go.
  ASSIGN_OR_RETURN(const SeriesKey before, steps_.SeriesOf(run));
  ASSIGN_OR_RETURN(const bool is_described_anew, runs_.Describe(run));
  const bool has_changed = changed_runs_.contains(run);
  if (!is_described_anew && !has_changed) return absl::OkStatus();
  changed_ = true;
  if (before.name != 0) series->insert(before);
  ASSIGN_OR_RETURN(const SeriesKey after, steps_.SeriesOf(run));
  series->insert(after);
  return has_changed ? runs_.Count(run) : absl::OkStatus();
}

}  // namespace telemetry::web::summary
