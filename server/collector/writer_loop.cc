#include "server/collector/writer_loop.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "proto/clock/steady.h"
#include "server/log/log.h"

namespace telemetry::collector {
namespace {

// The longest wait for the producers of the last transactions, which are those of this long. Longer than a producer
// takes to come back; a wait in vain is short beside it.
constexpr absl::Duration kGatherFor = absl::Milliseconds(2);
constexpr absl::Duration kRecently = absl::Milliseconds(25);
// With this many rows a commit costs little beside them.
constexpr uint64_t kEnoughRows = 1000;
// A transaction has room for so many producers that each have more to store than it takes.
constexpr uint64_t kSharesOfGroup = 4;

absl::Status NoWriter() { return absl::UnavailableError("the collector is ending"); }

}  // namespace

WriterLoop::WriterLoop(std::unique_ptr<storage::StoreWriter> writer, const Limits& limits, Events events,
                       DiskGuard& guard, Retention& retention, CollectorMetrics* metrics)
    : limits_(limits),
      events_(std::move(events)),
      guard_(guard),
      retention_(retention),
      metrics_(metrics),
      dataset_id_(writer->dataset_id()),
      writer_(std::move(writer)),
      thread_([this] { Run(); }) {}

WriterLoop::~WriterLoop() { Stop(); }

void WriterLoop::Stop() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
  answers_.reset();
  writer_.reset();
}

void WriterLoop::Open(storage::ProducerOpening opening, OpenDone done) {
  Enqueue(OpenJob{std::move(opening), std::move(done)});
}

void WriterLoop::Commit(std::unique_ptr<ParsedBatch> batch, CommitDone done) {
  Enqueue(CommitJob{std::move(batch), std::move(done)});
}

void WriterLoop::Enqueue(Job job) {
  absl::Status why = guard_.Check();
  if (why.ok()) {
    absl::MutexLock lock(&mutex_);
    if (!stopping_ && !failed_) {
      if (const auto* commit = std::get_if<CommitJob>(&job)) queued_rows_ += commit->batch->rows();
      queue_.push_back(std::move(job));
      if (queue_.size() == 1 || HasGathered()) changed_.NotifyAll();
      return;
    }
    why = NoWriter();
  }
  Abandon(job, why);
}

bool WriterLoop::HasWork() const { return !queue_.empty() || stopping_; }

bool WriterLoop::HasGathered() const {
  return stopping_ || queue_.empty() || std::holds_alternative<OpenJob>(queue_.front()) ||
         queue_.size() >= recent_producers_.size() || queued_rows_ >= kEnoughRows;
}

void WriterLoop::Expect(const std::vector<Job>& group) {
  const SteadyTime now = SteadyNow();
  for (const Job& job : group) {
    if (const auto* commit = std::get_if<CommitJob>(&job)) {
      recent_producers_.insert_or_assign(commit->batch->producer_id(), now);
    }
  }
  absl::erase_if(recent_producers_,
                 [now](const auto& producer) { return absl::FromChrono(now - producer.second) > kRecently; });
}

void WriterLoop::Run() {
  while (true) {
    std::vector<Job> group;
    bool last = false;
    {
      absl::MutexLock lock(&mutex_);
      const auto work = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return HasWork(); };
      changed_.Await(mutex_, SteadyAfter(Patience()), work);
      const auto gathered = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return HasGathered(); };
      changed_.Await(mutex_, SteadyAfter(kGatherFor), gathered);
      group = TakeGroup();
      Expect(group);
      last = group.empty() && stopping_;
    }
    absl::Status status = last ? retention_.End(*writer_) : Do(group);
    if (status.ok()) {
      SetReachable(true);
    } else if (writer_->GoesOnAfter(status)) {
      GoOnWithout(status, std::move(group));
    } else {
      return Fatal(status, std::move(group));
    }
    if (last) return;
  }
}

absl::Duration WriterLoop::Patience() const {
  // What waits for room on the disk looks again.
  if (!guard_.Check(/*calls=*/0).ok()) return limits_.idle_after;
  return std::min(idle_ ? writer_->idle_interval() : limits_.idle_after, retention_.Patience(/*busy=*/false));
}

bool WriterLoop::RetentionIsDue(bool busy) {
  if (retention_.Patience(busy) > absl::ZeroDuration()) return false;
  // What is removed is written to the log first, and the file stays as long as it is. The disk may have been full
  // before anybody looked.
  guard_.Look();
  return guard_.Check(/*calls=*/0).ok();
}

std::vector<WriterLoop::Job> WriterLoop::TakeGroup() {
  if (queue_.empty()) return {};
  return std::holds_alternative<OpenJob>(queue_.front()) ? TakeOpenings() : TakeBatches();
}

std::vector<WriterLoop::Job> WriterLoop::TakeOpenings() {
  std::vector<Job> group;
  while (!queue_.empty() && std::holds_alternative<OpenJob>(queue_.front())) {
    group.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  return group;
}

std::vector<WriterLoop::Job> WriterLoop::TakeBatches() {
  BatchGroup group;
  // A producer with a long queue does not keep others out of the transaction, and takes the room that they leave.
  TakeShares(limits_.group_records / kSharesOfGroup, group);
  TakeShares(limits_.group_records, group);
  return std::move(group.jobs);
}

void WriterLoop::TakeShares(uint64_t most_rows_of_producer, BatchGroup& group) {
  absl::flat_hash_map<std::string, uint64_t> rows_of;
  std::vector<Job> left;
  while (!queue_.empty()) {
    const auto* commit = std::get_if<CommitJob>(&queue_.front());
    if (commit == nullptr) break;
    ParsedBatch& batch = *commit->batch;
    uint64_t& rows = rows_of[batch.producer_id()];
    rows += batch.rows();
    const bool has_share = rows == batch.rows() || rows <= most_rows_of_producer;
    const bool fits =
        group.rows + batch.rows() <= limits_.group_records && group.bytes + batch.bytes() <= limits_.group_bytes;
    if (has_share && !fits && !group.jobs.empty()) break;
    if (has_share) {
      group.rows += batch.rows();
      group.bytes += batch.bytes();
    }
    if (has_share) queued_rows_ -= batch.rows();
    (has_share ? group.jobs : left).push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  queue_.insert(queue_.begin(), std::make_move_iterator(left.begin()), std::make_move_iterator(left.end()));
}

absl::Status WriterLoop::Do(std::vector<Job>& group) {
  const bool busy = !group.empty();
  if (busy) {
    if (absl::Status status = DoGroup(group); !status.ok()) return status;
  }
  const bool retain = RetentionIsDue(busy);
  idle_ = !busy && !retain;
  if (retain) return retention_.Step(*writer_);
  return busy ? absl::OkStatus() : writer_->Idle();
}

absl::Status WriterLoop::DoGroup(std::vector<Job>& group) {
  // What was taken in before may be more than there is room for by now.
  guard_.Look();
  if (absl::Status status = guard_.Check(group.size()); !status.ok()) {
    Refuse(std::move(group), status);
    return absl::OkStatus();
  }
  return std::holds_alternative<OpenJob>(group.front()) ? DoOpen(group) : DoCommit(group);
}

absl::Status WriterLoop::DoOpen(std::vector<Job>& group) {
  std::vector<storage::ProducerOpening> openings;
  openings.reserve(group.size());
  for (Job& job : group) openings.push_back(std::move(std::get<OpenJob>(job).opening));
  absl::StatusOr<std::vector<absl::StatusOr<uint64_t>>> results = writer_->OpenProducers(openings);
  if (!results.ok()) return results.status();
  Answer<OpenJob>(std::move(group), *std::move(results));
  return absl::OkStatus();
}

absl::Status WriterLoop::DoCommit(std::vector<Job>& group) {
  std::vector<storage::ProducerBatch> batches;
  batches.reserve(group.size());
  for (Job& job : group) batches.push_back(std::move(std::get<CommitJob>(job).batch->mutable_batch()));
  const SteadyTime begin = SteadyNow();
  absl::StatusOr<std::vector<storage::BatchOutcome>> outcomes = writer_->CommitBatches(batches);
  if (!outcomes.ok()) return outcomes.status();
  if (metrics_ != nullptr) {
    metrics_->AddCommit(batches, *outcomes, ElapsedSince(begin));
  }
  Answer<CommitJob>(std::move(group), *std::move(outcomes));
  return absl::OkStatus();
}

template <typename JobKind, typename Outcome>
void WriterLoop::Answer(std::vector<Job> group, std::vector<Outcome> outcomes) {
  struct Answers {
    std::vector<Job> group;
    std::vector<Outcome> outcomes;
  };
  // Shared, since a std::function has to be copyable.
  answers_->Run([answers = std::make_shared<Answers>(Answers{std::move(group), std::move(outcomes)})] {
    for (size_t i = 0; i < answers->group.size(); ++i) {
      std::get<JobKind>(answers->group[i]).done(std::move(answers->outcomes[i]));
    }
  });
}

void WriterLoop::GoOnWithout(const absl::Status& status, std::vector<Job> group) {
  if (is_reachable_) log::Error("the dataset cannot be reached", {{"reason", status.ToString()}});
  SetReachable(false);
  Refuse(std::move(group), absl::UnavailableError("the dataset cannot be reached: try again"));
}

void WriterLoop::SetReachable(bool is_reachable) {
  if (is_reachable == is_reachable_) return;
  is_reachable_ = is_reachable;
  if (is_reachable) log::Info("the dataset can be reached again");
  events_.on_reach(is_reachable);
}

void WriterLoop::Fatal(const absl::Status& status, std::vector<Job> group) {
  {
    absl::MutexLock lock(&mutex_);
    failed_ = true;
    for (Job& job : queue_) group.push_back(std::move(job));
    queue_.clear();
    queued_rows_ = 0;
  }
  events_.on_fatal(status);
  for (Job& job : group) Abandon(job, NoWriter());
}

void WriterLoop::Refuse(std::vector<Job> group, const absl::Status& why) {
  answers_->Run([group = std::make_shared<std::vector<Job>>(std::move(group)), why] {
    for (Job& job : *group) Abandon(job, why);
  });
}

void WriterLoop::Abandon(Job& job, const absl::Status& why) {
  if (auto* open = std::get_if<OpenJob>(&job)) {
    open->done(why);
  } else {
    storage::BatchOutcome outcome;
    outcome.status = why;
    std::get<CommitJob>(job).done(std::move(outcome));
  }
}

}  // namespace telemetry::collector
