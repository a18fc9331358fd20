#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "worker/tune/compile/callback_thread.h"
#include "worker/tune/compile/compile_job.h"
#include "worker/tune/compile/compiler_group.h"
#include "worker/tune/compile/result_store.h"

namespace telemetry::worker::tune::compile {

// Options of a CompilePool.
struct CompilePoolOptions {
  // The compilers, which may be shared with other pools; null: the pool has its own, of the next two members and
  // memory_limit_bytes.
  std::shared_ptr<CompilerGroup> compilers;
  process::ChildProgram program;
  int processes = 0;                              // maximum of compiler processes; 0: one per usable processor
  absl::Duration time_limit = absl::Seconds(60);  // for one source, including the start of its compiler process
  // A few CUDA sources (stragglers) need a hundred times as long as the others, and are hardly ever fast. True: their
  // time limit is kStragglerFactor times the median of the sources that compiled, once these are several, and at least
  // kLeastLimit. In 16 searches of matmul, bmm, attention and softmax on an H200, configs within 2% of the best
  // compiled for at most 2.5 times the median, but for one with 3.05. The first sources of a pool have kEarlyFactor
  // times as long: all compilers start then, and a tuner begins with configs that are known to be good.
  bool ends_stragglers = false;
  static constexpr double kStragglerFactor = 3;
  static constexpr absl::Duration kLeastLimit = absl::Milliseconds(500);
  static constexpr double kEarlyFactor = 1.5;
  // The memory that the compiler of one source may use; 0: no limit.
  uint64_t memory_limit_bytes = process::kDefaultMemoryLimitBytes;
  size_t kept_bytes = size_t{256} << 20;  // of results, kept for later equal jobs; the oldest are dropped
  // The folder in which CUDA code is kept for later pools, also of other processes (CodeFolder); empty: none. A pool
  // trims it when it is created, and after each eighth of the limit that its compilers add.
  std::string code_folder;
  uint64_t code_folder_bytes = uint64_t{1} << 30;
};

// Counters of a pool since its creation.
struct CompilePoolStats {
  int64_t submitted = 0;       // jobs: the sum of the next two
  int64_t unique_sources = 0;  // sources that were compiled or are queued
  int64_t deduplicated = 0;    // jobs that got, or will get, the result of an equal job
  // The results of the unique sources.
  int64_t compiled = 0;
  int64_t from_folder = 0;  // of these, not compiled but found in the code folder
  int64_t refused = 0;      // the source does not compile
  int64_t timeouts = 0;
  int64_t crashes = 0;      // or more memory than the limit
  int64_t unavailable = 0;  // there is no compiler for the source
  int64_t cancelled = 0;
  double busy_seconds = 0;  // of the compilers, summed over all processes
};

// Compiles the sources of one attempt in separate processes, several at a time (CompilerGroup). NVRTC compiles one
// source at a time in a process, and a source that crashes or hangs its compiler costs one job. Equal jobs are compiled
// once.
//
// Thread-safe. Callbacks run one after the other on a thread of the pool. They may call Submit(), but must neither call
// Drain() nor destroy the pool. Compilation continues while a callback runs.
class CompilePool {
 public:
  using Callback = std::function<void(const CompileResult&)>;

  // INVALID_ARGUMENT: options out of range.
  static absl::StatusOr<std::unique_ptr<CompilePool>> Create(CompilePoolOptions options);
  ~CompilePool();  // cancels all jobs, then waits for the callbacks
  CompilePool(const CompilePool&) = delete;
  CompilePool& operator=(const CompilePool&) = delete;

  // Queues a job and returns immediately. `done` is called exactly once with the result, but never from within Submit.
  // Jobs begin in the order of submission.
  void Submit(CompileJob job, Callback done);

  // Queues a job; the future gets its result.
  std::future<CompileResult> Submit(CompileJob job);
  // Queues a job before all others that wait for a compiler, and before an equal one's place: others need its result.
  std::future<CompileResult> SubmitFirst(CompileJob job);

  // Blocks until the callbacks of all jobs have returned.
  void Drain();

  // Cancels all jobs that have no result yet: their result is CANCELLED. Jobs that are submitted later are compiled.
  void Cancel();

  CompilePoolStats stats() const;
  int processes() const { return member_->group().processes(); }  // the maximum, also if others share them

 private:
  // One source in the pool, with the callbacks that wait for its result.
  struct Compilation : CompilerGroup::Task {
    Compilation(std::string its_key, CompileJob compiled) : Task(std::move(compiled)), key(std::move(its_key)) {}
    const std::string key;
    // Guarded by the pool's mutex.
    std::vector<Callback> waiting;
    bool began_early = false;  // before the times of several others were known
  };

  CompilePool(CompilePoolOptions options, std::shared_ptr<CompilerGroup> compilers);

  enum class Place { kLast, kFirst };
  void Submit(CompileJob job, Callback done, Place place);
  std::future<CompileResult> SubmitForFuture(CompileJob job, Place place);
  absl::Duration LimitFor(Compilation* compilation) const;
  void Finish(const Compilation& compilation, CompileResult result);
  void Count(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void TrimCodeFolder(const CompileResult& result);
  void CancelAll() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void DeliverToAll(const Compilation& compilation, const std::shared_ptr<const CompileResult>& result);
  void Deliver(Callback done, std::shared_ptr<const CompileResult> result, bool deduplicated);
  static std::shared_ptr<const CompileResult> Cancelled();
  bool IsDrained() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return undelivered_ == 0; }

  const CompilePoolOptions options_;
  mutable absl::Mutex mutex_;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  int64_t undelivered_ ABSL_GUARDED_BY(mutex_) = 0;
  CompilePoolStats stats_ ABSL_GUARDED_BY(mutex_);
  std::vector<double> compile_seconds_ ABSL_GUARDED_BY(mutex_);  // of the sources that compiled, ascending
  ResultStore kept_ ABSL_GUARDED_BY(mutex_);
  uint64_t added_bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // to the code folder, since it was trimmed
  absl::flat_hash_map<std::string, std::shared_ptr<Compilation>> open_ ABSL_GUARDED_BY(mutex_);  // queued or running
  std::unique_ptr<CompilerGroup::Member> member_;  // set until the destructor
  CallbackThread callbacks_;  // the last member: its thread ends before the members that callbacks use
};

}  // namespace telemetry::worker::tune::compile
