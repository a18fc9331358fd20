#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "proto/base/steady.h"
#include "server/call/limits.h"
#include "server/storage/store.h"
#include "server/writer/acked_seqs.h"
#include "server/writer/batch_queue.h"
#include "server/writer/disk_guard.h"
#include "server/writer/expected_producers.h"
#include "server/writer/metrics.h"
#include "server/writer/retention.h"

namespace telemetry::writer {

// The thread that writes to the dataset. While it commits a transaction, the jobs of all streams collect in its queue;
// the next transaction takes all of them, within its limits (group commit). Thread-safe.
//
// Before a transaction, the thread also waits briefly for the producers of the last transactions. A producer sends its
// next batch a fixed time after its last Ack (client/session.h), so producers that were acknowledged together send
// again together, and after a while all of them share one commit. A lone producer waits only for its own commit.
//
// BatchQueue chooses the batches of a transaction, so that senders do not delay each other.
//
// The completion callbacks may run on another thread: a transaction of many producers has as many callbacks, each with
// a system call, and meanwhile the next transaction is running.
class WriterLoop {
 public:
  // Called from the writer thread with the error of the dataset. After that nothing may be acknowledged.
  using OnFatal = std::function<void(const absl::Status&)>;
  // Called from the writer thread when the dataset can no longer be reached, and when it can be reached again.
  using OnReach = std::function<void(bool is_reachable)>;
  // Called from the writer thread with the function that runs a transaction's callbacks. Must run the functions soon
  // and in the order of the calls.
  using RunAnswers = std::function<void(std::function<void()> answers)>;
  struct Events {
    OnFatal on_fatal;
    OnReach on_reach = [](bool /*is_reachable*/) {};
    RunAnswers run_answers = [](const std::function<void()>& answers) { answers(); };
  };
  using RemoveDone = std::function<void(absl::StatusOr<v1::DeleteStep> step)>;
  using PutDone = std::function<void(storage::CachePutOutcome outcome)>;
  using ModelDone = std::function<void(storage::ModelOutcome outcome)>;
  // Called after the commit, in the order of the commits and never concurrently. Must not block.
  using OpenDone = std::function<void(storage::OpenOutcome outcome)>;
  using CommitDone = BatchQueue::CommitDone;

  // `guard`, `retention` and `metrics` must outlive the loop. `metrics` may be nullptr.
  WriterLoop(std::unique_ptr<storage::StoreWriter> writer, const call::Limits& limits, Events events, DiskGuard& guard,
             Retention& retention, CollectorMetrics* metrics = nullptr);
  // Calls Stop().
  ~WriterLoop();

  const std::string& dataset_id() const { return dataset_id_; }

  // Returns true while transactions are short (BatchQueue::IsUrgent).
  bool IsUrgent() const ABSL_LOCKS_EXCLUDED(mutex_);

  // Queues a StoreWriter::OpenProducers. Calls `done` with UNAVAILABLE after a fatal error, after Stop and while the
  // dataset cannot be reached, and with RESOURCE_EXHAUSTED while the disk has no room.
  void Open(storage::ProducerOpening opening, OpenDone done) ABSL_LOCKS_EXCLUDED(mutex_);
  // Queues a StoreWriter::CommitBatches. `sender` is a sender as sender.h defines it. The status of the outcome may be
  // an error listed for Open.
  void Commit(const std::string& sender, std::unique_ptr<batch::ParsedBatch> batch, CommitDone done)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Queues a StoreWriter::RemoveAttempts, which runs between two transactions of records; while records wait, at most
  // ten times a second. Calls `is_wanted` before the removal; if it returns false, removes nothing and calls `done`
  // with CANCELLED. Other errors are those listed for Open.
  void Remove(storage::Removal removal, std::function<bool()> is_wanted, RemoveDone done) ABSL_LOCKS_EXCLUDED(mutex_);

  // Queues an entry of StoreWriter::PutCacheEntries. Entries are stored between two transactions of records; while
  // records wait, at most twenty times a second. The status of the outcome may be an error listed for Open.
  void Put(storage::CachePut put, PutDone done) ABSL_LOCKS_EXCLUDED(mutex_);

  // Queues a StoreWriter::ChangeModels, which runs like a put in a transaction of its own. The status of the outcome
  // may be an error listed for Open.
  void ChangeModels(storage::ModelChange change, ModelDone done) ABSL_LOCKS_EXCLUDED(mutex_);

  // Executes the queued jobs except removals, puts and changes of models, which end with UNAVAILABLE, then ends the
  // thread and closes the dataset.
  void Stop() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct OpenJob {
    storage::ProducerOpening opening;
    OpenDone done;
  };
  using CommitJob = BatchQueue::Entry;
  struct RemoveJob {
    storage::Removal removal;
    std::function<bool()> is_wanted;
    RemoveDone done;
  };
  struct PutJob {
    storage::CachePut put;
    PutDone done;
  };
  struct ModelJob {
    storage::ModelChange change;
    ModelDone done;
  };
  using Job = std::variant<OpenJob, CommitJob, RemoveJob, PutJob, ModelJob>;
  void Enqueue(Job job) ABSL_LOCKS_EXCLUDED(mutex_);
  bool HasWork() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Waits for the batches of the expected producers.
  void Gather() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool HasGathered() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Adds the producers of the group to the expected ones.
  void Expect(const std::vector<Job>& group) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Run() ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns how long to wait for jobs before other work is due.
  absl::Duration Patience() const;
  // Returns true if a step of the retention is due and the disk has room for it. `busy`: jobs were executed.
  bool RetentionIsDue(bool busy);
  // Returns the jobs of the next transaction: openings, or as many batches as the limits allow. Openings and batches
  // take turns.
  std::vector<Job> TakeGroup() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::vector<Job> TakeOpenings() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::vector<Job> TakeBatches() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Do(std::vector<Job>& group);
  // Returns the next removal if one is due. `busy`: jobs were executed.
  std::vector<Job> TakeRemoval(bool busy) ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns the next puts if they are due.
  std::vector<Job> TakePuts(bool busy) ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns the next change of models if one is due.
  std::vector<Job> TakeModelChange(bool busy) ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns the removals, puts and changes of models, which are left when the loop ends.
  std::vector<Job> TakeLeftovers() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status DoGroup(std::vector<Job>& group);
  absl::Status DoOpen(std::vector<Job>& group);
  absl::Status DoCommit(std::vector<Job>& group);
  absl::Status DoRemove(std::vector<Job>& group);
  absl::Status DoPut(std::vector<Job>& group);
  absl::Status DoChangeModels(std::vector<Job>& group);
  // Calls `done` of each job with its outcome and frees the memory of the group, both through run_answers.
  template <typename JobKind, typename Outcome>
  void Answer(std::vector<Job> group, std::vector<Outcome> outcomes);
  // Handles an error after which the writer continues: logs the error and fails the group's jobs with UNAVAILABLE.
  void GoOnWithout(const absl::Status& status, std::vector<Job> group);
  void Report(const LostRecords& lost);
  void SetReachable(bool is_reachable);
  void Fatal(const absl::Status& status, std::vector<Job> group) ABSL_LOCKS_EXCLUDED(mutex_);
  // Fails each job with `why` through run_answers, after the callbacks queued before.
  void Refuse(std::vector<Job> group, const absl::Status& why);
  static void Abandon(Job& job, const absl::Status& why);

  const call::Limits limits_;
  const Events events_;
  DiskGuard& guard_;
  Retention& retention_;
  CollectorMetrics* const metrics_;
  const std::string dataset_id_;
  std::unique_ptr<storage::StoreWriter> writer_;  // used by the writer thread only
  bool idle_ = false;                             // nothing was written since the last checkpoint; writer thread only
  bool is_reachable_ = true;                      // writer thread only
  SteadyTime removed_at_{};                       // end of the last removal; writer thread only
  SteadyTime next_puts_{};                        // the time from which puts may follow; writer thread only
  SteadyTime next_model_change_{};                // the time from which a model may be changed; writer thread only
  AckedSeqs acked_;                               // writer thread only

  mutable absl::Mutex mutex_;
  // Openings overtake batches: those of other producers, and those of an earlier stream of the same producer, whose
  // records are sent again.
  std::deque<Job> openings_ ABSL_GUARDED_BY(mutex_);
  BatchQueue batches_ ABSL_GUARDED_BY(mutex_);
  std::deque<Job> removals_ ABSL_GUARDED_BY(mutex_);
  std::deque<Job> puts_ ABSL_GUARDED_BY(mutex_);
  std::deque<Job> model_changes_ ABSL_GUARDED_BY(mutex_);
  bool opened_last_ ABSL_GUARDED_BY(mutex_) = false;
  ExpectedProducers expected_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  bool failed_ ABSL_GUARDED_BY(mutex_) = false;
  SteadyCondition changed_;  // signals changes of openings_, batches_ and stopping_
  std::thread thread_;
};

}  // namespace telemetry::writer
