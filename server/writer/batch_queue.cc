#include "server/writer/batch_queue.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/container/flat_hash_set.h"

namespace telemetry::writer {
namespace {

// While others wait, a producer gets at most a quarter of a transaction, and a sender half of it.
constexpr uint64_t kProducersOfGroup = 4;
constexpr uint64_t kSendersOfGroup = 2;
// A producer with at most this much in the queue is light. A producer that keeps up sends less at a time.
constexpr uint64_t kLightRows = 128;
constexpr uint64_t kLightBytes = uint64_t{64} << 10;
// After a light batch arrived among those of other senders, transactions stay short for this time.
constexpr absl::Duration kUrgentFor = absl::Seconds(1);
// A short transaction takes about this time. After a longer one the limit falls: in proportion if the transaction was
// at least half full, otherwise by a quarter, because a small one is long when the disk or the machine is busy. The
// limit rises by an eighth when a full transaction takes less than half of the time. It rises seldom, because batches
// of other senders may cost many times as much as those of the last transaction.
constexpr absl::Duration kShort = absl::Milliseconds(4);
constexpr absl::Duration kRiseEvery = absl::Milliseconds(100);
// The limit of a short transaction is between one piece and this many rows, each with kBytesOfRow.
constexpr uint64_t kMostUrgentRows = 2048;
constexpr uint64_t kBytesOfRow = call::kShortPiece.bytes / call::kShortPiece.rows;
// After a transaction with an indivisible batch there is a pause of kPauses times the writer's time: none up to half of
// kShort, and a longer one above kLong.
constexpr absl::Duration kLong = absl::Milliseconds(8);
constexpr int kLongPauses = 200;
constexpr absl::Duration kLongestPause = absl::Seconds(30);

}  // namespace

BatchQueue::BatchQueue(const call::Limits& limits, Clock now)
    : largest_{limits.group_records, limits.group_bytes}, now_(std::move(now)), urgent_rows_(kMostUrgentRows) {}

bool BatchQueue::IsIndivisible(const Entry& entry) {
  return !CountWork(entry).FitsIn({call::kShortPiece.rows, call::kShortPiece.bytes});
}

bool BatchQueue::ComesAmongOthers(const std::string& sender) const {
  if (!last_sender_.empty() && sender != last_sender_) return true;
  return std::any_of(held_.begin(), held_.end(), [&](const Entry& held) { return held.sender != sender; });
}

bool BatchQueue::IsLight(const std::string& producer_id) const {
  return queued_of_.at(producer_id).FitsIn({kLightRows, kLightBytes});
}

void BatchQueue::Add(Entry entry) {
  const std::string sender = entry.sender;
  const std::string& producer_id = entry.batch->producer_id();
  if ((IsUrgent() && IsIndivisible(entry)) || held_of_.contains(producer_id)) {
    ++held_of_[producer_id];
    held_.push_back(std::move(entry));
  } else {
    const std::string id = producer_id;
    AddReady(std::move(entry));
    if (IsLight(id) && ComesAmongOthers(sender)) urgent_until_ = After(kUrgentFor);
  }
  last_sender_ = sender;
}

void BatchQueue::AddReady(Entry entry) {
  const Work work = CountWork(entry);
  queued_ += work;
  queued_of_[entry.batch->producer_id()] += work;
  ready_.push_back(std::move(entry));
}

SteadyTime BatchQueue::ready_at() const {
  if (!ready_.empty()) return SteadyTime::min();
  return held_.empty() ? kNever : std::min(indivisible_at_, urgent_until_);
}

std::vector<BatchQueue::Entry> BatchQueue::Take() {
  last_kind_ = Kind::kWhole;
  if (!IsUrgent()) {
    ReleaseAll();
    return TakeReady(largest_);
  }
  const auto held = only_light_last_ || ready_.empty() ? FindHeld() : held_.end();
  if (held != held_.end()) {
    last_kind_ = Kind::kIndivisible;
    return TakeHeld(held);
  }
  last_kind_ = Kind::kUrgent;
  return TakeReady({std::min(largest_.rows, urgent_rows_), std::min(largest_.bytes, urgent_rows_ * kBytesOfRow)});
}

void BatchQueue::AddCommit(absl::Duration commit, absl::Duration tidying) {
  const absl::Duration whole = commit + tidying;
  if (last_kind_ == Kind::kIndivisible && whole > kShort / 2) {
    indivisible_at_ = After(std::min((whole > kLong ? kLongPauses : kPauses) * whole, kLongestPause));
  }
  if (last_kind_ != Kind::kUrgent) return;
  if (commit > kShort) {
    const bool is_half_full = last_rows_ >= urgent_rows_ / 2;
    const double share = is_half_full ? std::min(0.75, absl::FDivDuration(kShort, commit)) : 0.75;
    urgent_rows_ = std::max(static_cast<uint64_t>(share * static_cast<double>(urgent_rows_)), call::kShortPiece.rows);
  } else if (commit < kShort / 2 && !ready_.empty() && now_() >= rise_at_) {
    urgent_rows_ = std::min(urgent_rows_ / 8 * 9, kMostUrgentRows);
    rise_at_ = After(kRiseEvery);
  }
}

std::deque<BatchQueue::Entry>::iterator BatchQueue::FindHeld() {
  if (now_() < indivisible_at_) return held_.end();
  absl::flat_hash_set<std::string> passed;
  auto found = held_.end();
  for (auto held = held_.begin(); held != held_.end(); ++held) {
    const std::string& producer_id = held->batch->producer_id();
    // Earlier batches of the producer come first.
    if (!passed.insert(producer_id).second || queued_of_.contains(producer_id)) continue;
    if (held->sender != last_indivisible_from_) return held;
    if (found == held_.end()) found = held;
  }
  return found;
}

std::vector<BatchQueue::Entry> BatchQueue::TakeHeld(const std::deque<Entry>::iterator& held) {
  std::vector<Entry> taken;
  taken.push_back(std::move(*held));
  held_.erase(held);
  only_light_last_ = false;
  last_indivisible_from_ = taken.front().sender;
  ReleaseBehind(taken.front().batch->producer_id());
  return taken;
}

void BatchQueue::ReleaseBehind(const std::string& producer_id) {
  const auto count = held_of_.find(producer_id);
  --count->second;
  for (auto held = held_.begin(); held != held_.end() && count->second > 0;) {
    if (held->batch->producer_id() != producer_id) {
      ++held;
      continue;
    }
    if (IsIndivisible(*held)) return;
    AddReady(std::move(*held));
    held = held_.erase(held);
    --count->second;
  }
  held_of_.erase(count);
}

void BatchQueue::ReleaseAll() {
  for (Entry& entry : held_) AddReady(std::move(entry));
  held_.clear();
  held_of_.clear();
}

std::vector<BatchQueue::Entry> BatchQueue::TakeAll() {
  ReleaseAll();
  std::vector<Entry> all(std::make_move_iterator(ready_.begin()), std::make_move_iterator(ready_.end()));
  ready_.clear();
  queued_ = {};
  queued_of_.clear();
  return all;
}

std::vector<BatchQueue::Entry> BatchQueue::TakeReady(const Work& limit) {
  const Shares shares = {{limit.rows / kProducersOfGroup, limit.bytes / kProducersOfGroup},
                         {limit.rows / kSendersOfGroup, limit.bytes / kSendersOfGroup}};
  const Shares all = {limit, limit};
  Group group{.limit = limit};
  TakeShares(shares, {.light_only = true}, group);
  only_light_last_ = !group.entries.empty() && !only_light_last_;
  if (only_light_last_) {
    TakeShares(all, {.light_only = true}, group);
  } else {
    TakeShares(shares, {.firsts = true}, group);
    TakeShares(all, {}, group);
  }
  last_rows_ = group.work.rows;
  return std::move(group.entries);
}

void BatchQueue::TakeShares(const Shares& shares, const Rule& rule, Group& group) {
  absl::flat_hash_set<std::string> passed;  // producers with a batch that stays queued; their later batches stay, too
  std::deque<Entry> left;
  bool in_any_case = rule.firsts;
  for (; !ready_.empty() && (in_any_case || group.work.rows < group.limit.rows); ready_.pop_front()) {
    Entry& entry = ready_.front();
    const std::string& producer_id = entry.batch->producer_id();
    const Work work = CountWork(entry);
    Work& of_producer = group.of_producers[producer_id];
    Work& of_sender = group.of_senders[entry.sender];
    const bool may_come = !passed.contains(producer_id) && (!rule.light_only || IsLight(producer_id));
    const bool has_share = (rule.firsts && of_sender.rows == 0) || ((of_producer + work).FitsIn(shares.of_producer) &&
                                                                    (of_sender + work).FitsIn(shares.of_sender));
    if (!in_any_case && !(may_come && has_share && (group.work + work).FitsIn(group.limit))) {
      passed.insert(producer_id);
      left.push_back(std::move(entry));
      continue;
    }
    in_any_case = false;
    of_producer += work;
    of_sender += work;
    group.work += work;
    queued_ -= work;
    const auto queued = queued_of_.find(producer_id);
    queued->second -= work;
    if (queued->second.rows == 0) queued_of_.erase(queued);  // every batch has at least one row
    group.entries.push_back(std::move(entry));
  }
  ready_.insert(ready_.begin(), std::make_move_iterator(left.begin()), std::make_move_iterator(left.end()));
}

}  // namespace telemetry::writer
