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
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "proto/clock/steady.h"
#include "server/batch/parsed_batch.h"
#include "server/call/limits.h"
#include "server/storage/store.h"
#include "server/writer/disk_guard.h"
#include "server/writer/metrics.h"
#include "server/writer/retention.h"

namespace telemetry::collector {

// The one thread that writes. While it commits, what all streams send gathers in its queue; then it takes all of that
// into the next transaction. It also waits a moment for the producers of the last transactions: a producer sends its
// next batch a fixed time after its last Ack (client/session.h), so those that were acknowledged together come back
// together, and after a while all of them share one commit. A lone producer waits for nothing but its own commit.
// Producers with little to store take turns with those that have much: they wait for one transaction of the others at
// most. While they come from several senders, a transaction is smaller, so that this takes about 20 ms.
// Another thread may answer: a transaction of many producers has as many answers, each a call of the system, and
// meanwhile the next transaction is under way. Thread-safe.
class WriterLoop {
 public:
  // Called from the writer's thread, with the dataset's error. Nothing may be acknowledged any more.
  using OnFatal = std::function<void(const absl::Status&)>;
  // Called from the writer's thread when the dataset cannot be reached any more, and when it can again.
  using OnReach = std::function<void(bool is_reachable)>;
  // Called from the writer's thread with the answers to a transaction. Runs them soon, after those before.
  using RunAnswers = std::function<void(std::function<void()> answers)>;
  struct Events {
    OnFatal on_fatal;
    OnReach on_reach = [](bool /*is_reachable*/) {};
    RunAnswers run_answers = [](const std::function<void()>& answers) { answers(); };
  };
  using RemoveDone = std::function<void(absl::StatusOr<v1::DeleteStep> step)>;
  // Called after the commit, in the order of the commits and from one thread at a time. They must not block.
  using OpenDone = std::function<void(absl::StatusOr<uint64_t> committed_seq)>;
  using CommitDone = std::function<void(storage::BatchOutcome outcome)>;

  // `guard`, `retention` and `metrics` outlive the loop; nullptr: nobody counts.
  WriterLoop(std::unique_ptr<storage::StoreWriter> writer, const Limits& limits, Events events, DiskGuard& guard,
             Retention& retention, CollectorMetrics* metrics = nullptr);
  // As Stop.
  ~WriterLoop();

  const std::string& dataset_id() const { return dataset_id_; }

  // StoreWriter::OpenProducers. Calls done with UNAVAILABLE after a fatal error or Stop and while the dataset cannot be
  // reached, with RESOURCE_EXHAUSTED while the disk has no room.
  void Open(storage::ProducerOpening opening, OpenDone done) ABSL_LOCKS_EXCLUDED(mutex_);
  // StoreWriter::CommitBatches. The outcome's status may be one of the same. `sender` as in sender.h.
  void Commit(const std::string& sender, std::unique_ptr<ParsedBatch> batch, CommitDone done)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // StoreWriter::RemoveAttempts, between two transactions of records; while records wait, at most ten times a second.
  // `is_wanted` is asked before: false: nothing is removed, and done is called with CANCELLED. Other errors as Open has
  // them.
  void Remove(storage::Removal removal, std::function<bool()> is_wanted, RemoveDone done) ABSL_LOCKS_EXCLUDED(mutex_);

  // Does the queued jobs except removals, which end with UNAVAILABLE, then ends the thread and closes the dataset.
  void Stop() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct OpenJob {
    storage::ProducerOpening opening;
    OpenDone done;
  };
  struct CommitJob {
    std::string sender;
    std::unique_ptr<ParsedBatch> batch;
    CommitDone done;
  };
  struct RemoveJob {
    storage::Removal removal;
    std::function<bool()> is_wanted;
    RemoveDone done;
  };
  using Job = std::variant<OpenJob, CommitJob, RemoveJob>;
  // The cost of batches for the writer, or a limit of it.
  struct Work {
    uint64_t rows = 0;
    uint64_t bytes = 0;

    Work operator+(const Work& other) const { return {rows + other.rows, bytes + other.bytes}; }
    Work& operator+=(const Work& other) { return *this = *this + other; }
    Work& operator-=(const Work& other) { return *this = {rows - other.rows, bytes - other.bytes}; }
    bool FitsIn(const Work& limit) const { return rows <= limit.rows && bytes <= limit.bytes; }
  };
  static Work WorkOf(const CommitJob& job) { return {job.batch->rows(), job.batch->bytes()}; }
  // The batches of a transaction.
  struct BatchGroup {
    Work limit;
    std::vector<Job> jobs;
    Work work;
    absl::flat_hash_map<std::string, Work> of_producers;
    absl::flat_hash_map<std::string, Work> of_senders;
  };
  struct Shares {
    Work of_producer;
    Work of_sender;
  };
  struct Rule {
    bool light_only = false;  // takes batches of light producers only
    // Takes the first batch of all, however large, and the first one of each sender that the group has room for.
    bool firsts = false;
  };

  void Enqueue(Job job) ABSL_LOCKS_EXCLUDED(mutex_);
  bool HasWork() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Waits for the producers that are expected, but not for long.
  void Gather() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool HasGathered() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Expects these producers again.
  void Expect(const std::vector<Job>& group) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Run() ABSL_LOCKS_EXCLUDED(mutex_);
  // How long to wait for jobs until there is something else to do.
  absl::Duration Patience() const;
  // `busy`: there are jobs, too.
  bool RetentionIsDue(bool busy);
  // Returns the jobs of the next transaction: openings, or as many batches as the limits allow. The two kinds take
  // turns.
  std::vector<Job> TakeGroup() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::vector<Job> TakeOpenings() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns the limit of the next transaction. It is lower while light producers of other senders would wait for it.
  Work LargestGroup() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::vector<Job> TakeBatches() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns true for a producer whose batches in the queue are small together.
  bool IsLight(const std::string& producer_id) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Moves queued batches to the group, in order, as far as the shares and the group have room; those of one producer
  // keep their order.
  void TakeShares(const Shares& shares, const Rule& rule, BatchGroup& group) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Do(std::vector<Job>& group);
  // Returns the next removal where it is due; `busy`: there are jobs, too.
  std::vector<Job> TakeRemoval(bool busy) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status DoGroup(std::vector<Job>& group);
  absl::Status DoOpen(std::vector<Job>& group);
  absl::Status DoCommit(std::vector<Job>& group);
  absl::Status DoRemove(std::vector<Job>& group);
  // Hands each job its outcome, and frees what the group held, away from the writer's thread.
  template <typename JobKind, typename Outcome>
  void Answer(std::vector<Job> group, std::vector<Outcome> outcomes);
  // After an error that is no end: says so, and has the group answered.
  void GoOnWithout(const absl::Status& status, std::vector<Job> group);
  void SetReachable(bool is_reachable);
  void Fatal(const absl::Status& status, std::vector<Job> group) ABSL_LOCKS_EXCLUDED(mutex_);
  // Has each job answered with `why`, behind those that were done before.
  void Refuse(std::vector<Job> group, const absl::Status& why);
  static void Abandon(Job& job, const absl::Status& why);

  const Limits limits_;
  const Events events_;
  DiskGuard& guard_;
  Retention& retention_;
  CollectorMetrics* const metrics_;
  const std::string dataset_id_;
  std::unique_ptr<storage::StoreWriter> writer_;  // the writer's thread only
  bool idle_ = false;                             // nothing has been written since the log was emptied; it, too
  bool is_reachable_ = true;                      // it, too
  SteadyTime removed_at_{};                       // when it last ended a removal; it, too

  absl::Mutex mutex_;
  // Openings pass batches: those of other producers, or of an earlier stream of the same one, whose records are then
  // sent again.
  std::deque<Job> openings_ ABSL_GUARDED_BY(mutex_);
  std::deque<Job> batches_ ABSL_GUARDED_BY(mutex_);
  std::deque<Job> removals_ ABSL_GUARDED_BY(mutex_);
  Work queued_ ABSL_GUARDED_BY(mutex_);                                       // of batches_
  absl::flat_hash_map<std::string, Work> queued_of_ ABSL_GUARDED_BY(mutex_);  // by producer
  std::string last_sender_ ABSL_GUARDED_BY(mutex_);                           // of the newest batch
  SteadyTime urgent_until_ ABSL_GUARDED_BY(mutex_){};                         // transactions are small until then
  bool opened_last_ ABSL_GUARDED_BY(mutex_) = false;
  bool only_light_last_ ABSL_GUARDED_BY(mutex_) = false;
  // When the producers of the last transactions were last part of one: those of the last kRecently (writer_loop.cc).
  absl::flat_hash_map<std::string, SteadyTime> recent_producers_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  bool failed_ ABSL_GUARDED_BY(mutex_) = false;
  SteadyCondition changed_;  // of openings_, batches_ and stopping_
  std::thread thread_;
};

}  // namespace telemetry::collector
