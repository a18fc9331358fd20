#include "server/writer/writer_loop.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/time/time.h"
#include "proto/base/status_macros.h"
#include "proto/base/steady.h"
#include "proto/base/thread_name.h"
#include "proto/log/log.h"

namespace telemetry::writer {
namespace {

// With this many rows the fixed cost of a commit is small in comparison.
constexpr uint64_t kEnoughRows = 1000;
// The most openings in one transaction; they take the writer a few milliseconds.
constexpr size_t kMaxOpenings = 256;
// While records wait, the time between two removals. It does not grow with the time that they take, as that between
// puts does: removals need the right to delete, and would not end on a busy collector.
constexpr absl::Duration kRemovalPause = absl::Milliseconds(100);
// The most puts and bytes in one transaction: they take the writer a few milliseconds.
constexpr size_t kMaxPuts = 64;
constexpr uint64_t kMaxPutBytes = uint64_t{2} << 20;
// While records wait, the least time between two transactions of puts and between two changes of models. It is longer
// after work that took long, up to a limit: the last part of the largest model takes about 50 ms.
constexpr absl::Duration kPutPause = absl::Milliseconds(50);
constexpr absl::Duration kModelPause = absl::Milliseconds(200);
constexpr absl::Duration kLongestPauseOfJobs = absl::Seconds(5);

// Returns the end of the pause after work that began at `begin`.
SteadyTime PauseAfter(SteadyTime begin, absl::Duration least) {
  return SteadyAfter(std::clamp(BatchQueue::kPauses * ElapsedSince(begin), least, kLongestPauseOfJobs));
}

absl::Status NoWriter() { return absl::UnavailableError("the collector is shutting down"); }

}  // namespace

WriterLoop::WriterLoop(std::unique_ptr<storage::StoreWriter> writer, const call::Limits& limits, Events events,
                       DiskGuard& guard, Retention& retention, CollectorMetrics* metrics)
    : limits_(limits),
      events_(std::move(events)),
      guard_(guard),
      retention_(retention),
      metrics_(metrics),
      dataset_id_(writer->dataset_id()),
      writer_(std::move(writer)),
      batches_(limits),
      thread_([this] { Run(); }) {}

WriterLoop::~WriterLoop() { Stop(); }

void WriterLoop::Stop() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
  writer_.reset();
}

bool WriterLoop::IsUrgent() const {
  absl::MutexLock lock(&mutex_);
  return batches_.IsUrgent();
}

void WriterLoop::Open(storage::ProducerOpening opening, OpenDone done) {
  Enqueue(OpenJob{std::move(opening), std::move(done)});
}

void WriterLoop::Commit(const std::string& sender, std::unique_ptr<batch::ParsedBatch> batch, CommitDone done) {
  Enqueue(CommitJob{sender, std::move(batch), std::move(done)});
}

void WriterLoop::Remove(storage::Removal removal, std::function<bool()> is_wanted, RemoveDone done) {
  Enqueue(RemoveJob{std::move(removal), std::move(is_wanted), std::move(done)});
}

void WriterLoop::Put(storage::CachePut put, PutDone done) { Enqueue(PutJob{std::move(put), std::move(done)}); }

void WriterLoop::ChangeModels(storage::ModelChange change, ModelDone done) {
  Enqueue(ModelJob{std::move(change), std::move(done)});
}

void WriterLoop::Enqueue(Job job) {
  absl::Status why = guard_.Check();
  if (why.ok()) {
    absl::MutexLock lock(&mutex_);
    if (!stopping_ && !failed_) {
      const bool was_idle = !HasWork();
      if (auto* commit = std::get_if<CommitJob>(&job)) {
        batches_.Add(std::move(*commit));
      } else if (std::holds_alternative<RemoveJob>(job)) {
        removals_.push_back(std::move(job));
      } else if (std::holds_alternative<PutJob>(job)) {
        puts_.push_back(std::move(job));
      } else if (std::holds_alternative<ModelJob>(job)) {
        model_changes_.push_back(std::move(job));
      } else {
        openings_.push_back(std::move(job));
      }
      if (was_idle || HasGathered()) changed_.NotifyAll();
      return;
    }
    why = NoWriter();
  }
  Abandon(job, why);
}

bool WriterLoop::HasWork() const {
  return !openings_.empty() || batches_.IsReady() || !removals_.empty() || !puts_.empty() || !model_changes_.empty() ||
         stopping_;
}

bool WriterLoop::HasGathered() const {
  return stopping_ || !openings_.empty() || batches_.ready_batches() >= expected_.size() ||
         batches_.ready_rows() >= kEnoughRows;
}

void WriterLoop::Expect(const std::vector<Job>& group) {
  const SteadyTime now = SteadyNow();
  for (const Job& job : group) {
    if (const auto* commit = std::get_if<CommitJob>(&job)) {
      expected_.Add(commit->batch->producer_id(), now);
    }
  }
}

void WriterLoop::Gather() {
  const SteadyTime begin = SteadyNow();
  expected_.Forget(begin);
  const auto gathered = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return HasGathered(); };
  const auto wait = [&](absl::Duration duration) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return changed_.Await(mutex_, begin + absl::ToChronoNanoseconds(duration), gathered);
  };
  // The batches that come meanwhile decide about the rest of the wait.
  if (!wait(ExpectedProducers::kShortestWait)) wait(expected_.WaitWith(batches_.ready_batches()));
}

void WriterLoop::Run() {
  NameThread("writer");
  while (true) {
    std::vector<Job> group;
    bool last = false;
    {
      absl::MutexLock lock(&mutex_);
      const auto work = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return HasWork(); };
      changed_.Await(mutex_, std::min(SteadyAfter(Patience()), batches_.ready_at()), work);
      if (batches_.ready_batches() > 0) Gather();
      group = TakeGroup();
      writer_->SetUrgent(batches_.IsUrgent());
      Expect(group);
      last = group.empty() && stopping_;
      if (last) group = TakeLeftovers();
    }
    if (last && !group.empty()) Refuse(std::exchange(group, {}), NoWriter());
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
  // While the disk is full, the loop checks it again at this interval.
  if (!guard_.Check(/*calls=*/0).ok()) return limits_.idle_after;
  return std::min(idle_ ? writer_->idle_interval() : limits_.idle_after, retention_.Patience(/*busy=*/false));
}

bool WriterLoop::RetentionIsDue(bool busy) {
  if (retention_.Patience(busy) > absl::ZeroDuration()) return false;
  // A removal first grows the write-ahead log, and the file keeps its size. The disk may have become full since the
  // last check.
  guard_.Look();
  return guard_.Check(/*calls=*/0).ok();
}

std::vector<WriterLoop::Job> WriterLoop::TakeGroup() {
  opened_last_ = !openings_.empty() && (!batches_.IsReady() || !opened_last_);
  return opened_last_ ? TakeOpenings() : TakeBatches();
}

std::vector<WriterLoop::Job> WriterLoop::TakeOpenings() {
  std::vector<Job> group;
  for (; !openings_.empty() && group.size() < kMaxOpenings; openings_.pop_front()) {
    group.push_back(std::move(openings_.front()));
  }
  return group;
}

std::vector<WriterLoop::Job> WriterLoop::TakeBatches() {
  std::vector<Job> group;
  if (!batches_.IsReady() && !stopping_) return group;
  for (CommitJob& job : batches_.IsReady() ? batches_.Take() : batches_.TakeAll()) group.emplace_back(std::move(job));
  return group;
}

absl::Status WriterLoop::Do(std::vector<Job>& group) {
  const bool busy = !group.empty();
  if (busy) {
    RETURN_IF_ERROR(DoGroup(group));
  }
  const bool retain = RetentionIsDue(busy);
  if (retain) {
    RETURN_IF_ERROR(retention_.Step(*writer_));
  }
  group = TakePuts(busy);
  const bool put = !group.empty();
  if (put) {
    RETURN_IF_ERROR(DoPut(group));
  }
  group = TakeModelChange(busy);
  const bool changed = !group.empty();
  if (changed) {
    RETURN_IF_ERROR(DoChangeModels(group));
  }
  group = TakeRemoval(busy);
  idle_ = !busy && !retain && !put && !changed && group.empty();
  if (!group.empty()) return DoRemove(group);
  return idle_ ? writer_->Idle() : absl::OkStatus();
}

std::vector<WriterLoop::Job> WriterLoop::TakeRemoval(bool busy) {
  std::vector<Job> taken;
  const absl::MutexLock lock(&mutex_);
  if (removals_.empty() || (busy && ElapsedSince(removed_at_) < kRemovalPause)) return taken;
  taken.push_back(std::move(removals_.front()));
  removals_.pop_front();
  return taken;
}

std::vector<WriterLoop::Job> WriterLoop::TakePuts(bool busy) {
  std::vector<Job> taken;
  const absl::MutexLock lock(&mutex_);
  if (busy && SteadyNow() < next_puts_) return taken;
  uint64_t bytes = 0;
  while (!puts_.empty() && taken.size() < kMaxPuts && bytes < kMaxPutBytes) {
    bytes += storage::CacheEntryBytes(std::get<PutJob>(puts_.front()).put.entry);
    taken.push_back(std::move(puts_.front()));
    puts_.pop_front();
  }
  return taken;
}

std::vector<WriterLoop::Job> WriterLoop::TakeModelChange(bool busy) {
  std::vector<Job> taken;
  const absl::MutexLock lock(&mutex_);
  if (model_changes_.empty() || (busy && SteadyNow() < next_model_change_)) return taken;
  taken.push_back(std::move(model_changes_.front()));
  model_changes_.pop_front();
  return taken;
}

std::vector<WriterLoop::Job> WriterLoop::TakeLeftovers() {
  std::vector<Job> left;
  for (std::deque<Job>* jobs : {&removals_, &puts_, &model_changes_}) {
    std::move(jobs->begin(), jobs->end(), std::back_inserter(left));
    jobs->clear();
  }
  return left;
}

absl::Status WriterLoop::DoPut(std::vector<Job>& group) {
  guard_.Look();
  if (absl::Status why = guard_.Check(group.size()); !why.ok()) {
    Refuse(std::move(group), why);
    return absl::OkStatus();
  }
  std::vector<storage::CachePut> puts;
  puts.reserve(group.size());
  for (Job& job : group) puts.push_back(std::move(std::get<PutJob>(job).put));
  const SteadyTime begin = SteadyNow();
  ASSIGN_OR_RETURN(std::vector<storage::CachePutOutcome> outcomes, writer_->PutCacheEntries(puts, limits_.cache));
  next_puts_ = PauseAfter(begin, kPutPause);
  if (metrics_ != nullptr) metrics_->AddPuts(outcomes);
  Answer<PutJob>(std::move(group), std::move(outcomes));
  return absl::OkStatus();
}

absl::Status WriterLoop::DoChangeModels(std::vector<Job>& group) {
  guard_.Look();
  if (absl::Status why = guard_.Check(); !why.ok()) {
    Refuse(std::move(group), why);
    return absl::OkStatus();
  }
  const SteadyTime begin = SteadyNow();
  ASSIGN_OR_RETURN(storage::ModelOutcome outcome,
                   writer_->ChangeModels(std::get<ModelJob>(group.front()).change, limits_.models));
  next_model_change_ = PauseAfter(begin, kModelPause);
  std::vector<storage::ModelOutcome> outcomes;
  outcomes.push_back(std::move(outcome));
  Answer<ModelJob>(std::move(group), std::move(outcomes));
  return absl::OkStatus();
}

absl::Status WriterLoop::DoRemove(std::vector<Job>& group) {
  const RemoveJob& job = std::get<RemoveJob>(group.front());
  // A removal grows the write-ahead log before it frees pages.
  guard_.Look();
  absl::Status why = guard_.Check();
  if (why.ok() && !job.is_wanted()) why = absl::CancelledError("the call has ended");
  if (!why.ok()) {
    Refuse(std::move(group), why);
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(v1::DeleteStep step, writer_->RemoveAttempts(job.removal));
  removed_at_ = SteadyNow();
  Answer<RemoveJob>(std::move(group), std::vector<v1::DeleteStep>{std::move(step)});
  return absl::OkStatus();
}

absl::Status WriterLoop::DoGroup(std::vector<Job>& group) {
  // The disk may have less room by now than when the jobs were queued.
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
  ASSIGN_OR_RETURN(std::vector<storage::OpenOutcome> outcomes, writer_->OpenProducers(openings));
  Report(acked_.Check(openings, outcomes));
  Answer<OpenJob>(std::move(group), std::move(outcomes));
  return absl::OkStatus();
}

absl::Status WriterLoop::DoCommit(std::vector<Job>& group) {
  std::vector<storage::ProducerBatch> batches;
  batches.reserve(group.size());
  for (Job& job : group) batches.push_back(std::move(std::get<CommitJob>(job).batch->mutable_batch()));
  const SteadyTime begin = SteadyNow();
  ASSIGN_OR_RETURN(std::vector<storage::BatchOutcome> outcomes, writer_->CommitBatches(batches));
  for (const storage::BatchOutcome& outcome : outcomes) retention_.AddRejects(outcome.reject_bytes);
  Report(acked_.Check(batches, outcomes));
  const absl::Duration duration = ElapsedSince(begin);
  if (metrics_ != nullptr) metrics_->AddCommit(batches, outcomes, duration);
  Answer<CommitJob>(std::move(group), std::move(outcomes));
  const SteadyTime tidying_since = SteadyNow();
  RETURN_IF_ERROR(writer_->TidyUp());
  absl::MutexLock lock(&mutex_);
  batches_.AddCommit(duration, ElapsedSince(tidying_since));
  return absl::OkStatus();
}

template <typename JobKind, typename Outcome>
void WriterLoop::Answer(std::vector<Job> group, std::vector<Outcome> outcomes) {
  struct Answers {
    std::vector<Job> group;
    std::vector<Outcome> outcomes;
  };
  // Shared because a std::function must be copyable.
  events_.run_answers([answers = std::make_shared<Answers>(Answers{std::move(group), std::move(outcomes)})] {
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

void WriterLoop::Report(const LostRecords& lost) {
  if (lost.producers == 0) return;
  log::Error(
      "the dataset has lost acknowledged records (was a backup restored, or did a standby take over?); their producers "
      "send those again that they still have",
      {{"records", lost.records}, {"claimed_by_producers", lost.claimed}, {"producers", lost.producers}});
  if (metrics_ != nullptr) metrics_->AddLost(lost);
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
    for (Job& job : openings_) group.push_back(std::move(job));
    for (CommitJob& job : batches_.TakeAll()) group.emplace_back(std::move(job));
    openings_.clear();
    for (Job& job : TakeLeftovers()) group.push_back(std::move(job));
  }
  events_.on_fatal(status);
  for (Job& job : group) Abandon(job, NoWriter());
}

void WriterLoop::Refuse(std::vector<Job> group, const absl::Status& why) {
  events_.run_answers([group = std::make_shared<std::vector<Job>>(std::move(group)), why] {
    for (Job& job : *group) Abandon(job, why);
  });
}

void WriterLoop::Abandon(Job& job, const absl::Status& why) {
  if (auto* open = std::get_if<OpenJob>(&job)) {
    open->done({.status = why});
  } else if (auto* remove = std::get_if<RemoveJob>(&job)) {
    remove->done(why);
  } else if (auto* put = std::get_if<PutJob>(&job)) {
    put->done({.status = why});
  } else if (auto* change = std::get_if<ModelJob>(&job)) {
    change->done({.status = why});
  } else {
    std::get<CommitJob>(job).done({.status = why});
  }
}

}  // namespace telemetry::writer
