#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
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
#include "worker/tune/compile/compiler.h"
#include "worker/tune/compile/result_store.h"

namespace telemetry::worker::tune {

struct CompilePoolOptions {
  ChildProgram program;
  int processes = 0;  // at most so many compiler processes; 0: one for each processor that this program may use
  absl::Duration time_limit = absl::Seconds(60);  // for one source, the start of its compiler process included
  size_t kept_bytes = size_t{256} << 20;          // of results, for equal jobs later on; the oldest are forgotten
};

// What a pool has done so far.
struct CompilePoolStats {
  int64_t submitted = 0;       // jobs: as many as the next two together
  int64_t unique_sources = 0;  // that were compiled, or are waiting for it
  int64_t deduplicated = 0;    // jobs that got the result of an equal one, or will
  // What became of the unique sources.
  int64_t compiled = 0;
  int64_t refused = 0;  // they do not compile
  int64_t timeouts = 0;
  int64_t crashes = 0;
  int64_t unavailable = 0;  // there is no compiler for them
  int64_t cancelled = 0;
  double busy_seconds = 0;  // of all processes together
};

// Compiles sources in processes of their own, several at a time: NVRTC compiles one source at a time in a process, and
// a source that crashes or hangs its compiler costs that one job. Equal jobs are compiled once. Processes start when
// there is work for them, and end with the pool.
//
// Thread-safe. Callbacks run one after the other on a thread of the pool; they may submit, and must neither wait for
// the pool (Drain) nor destroy it. Compiling goes on while a callback runs.
class CompilePool {
 public:
  using Callback = std::function<void(const CompileResult&)>;

  // INVALID_ARGUMENT: options out of range.
  static absl::StatusOr<std::unique_ptr<CompilePool>> Create(CompilePoolOptions options);
  ~CompilePool();  // cancels, then waits for the callbacks
  CompilePool(const CompilePool&) = delete;
  CompilePool& operator=(const CompilePool&) = delete;

  // Returns at once. `done` is called once, whatever happens, with the result; never from within Submit. Jobs are begun
  // in the order of their submission.
  void Submit(CompileJob job, Callback done);

  // Waits until no job is left whose callback has not returned.
  void Drain();

  // Ends all jobs that have no result yet: they get CANCELLED. Jobs that are submitted later are compiled.
  void Cancel();

  CompilePoolStats stats() const;
  int processes() const { return options_.processes; }  // the limit

 private:
  // One source on its way through the pool, and all who wait for it.
  struct Compilation {
    Compilation(std::string key, CompileJob job) : key(std::move(key)), job(std::move(job)) {}
    const std::string key;
    const CompileJob job;
    std::vector<Callback> waiting;  // guarded by the pool's mutex
    std::atomic<bool> cancelled = false;
  };

  // A thread with its compiler process.
  struct Lane {
    explicit Lane(const ChildProgram& program) : compiler(program) {}
    Compiler compiler;
    std::shared_ptr<Compilation> running;  // null: idle. Guarded by the pool's mutex
    std::thread thread;
  };

  explicit CompilePool(CompilePoolOptions options) : options_(std::move(options)), kept_(options_.kept_bytes) {}

  void StartLaneIfNeeded() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Run(Lane* lane);
  std::shared_ptr<Compilation> Next(Lane* lane);
  void Finish(Lane* lane, const Compilation& compilation, CompileResult result);
  void Count(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void CancelAll() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void DeliverToAll(const Compilation& compilation, const std::shared_ptr<const CompileResult>& result);
  void Deliver(Callback done, std::shared_ptr<const CompileResult> result, bool deduplicated);
  static std::shared_ptr<const CompileResult> Cancelled();
  bool HasWork() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return ending_ || !queue_.empty(); }
  bool IsDrained() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return undelivered_ == 0; }

  const CompilePoolOptions options_;
  mutable absl::Mutex mutex_;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  int64_t undelivered_ ABSL_GUARDED_BY(mutex_) = 0;
  CompilePoolStats stats_ ABSL_GUARDED_BY(mutex_);
  ResultStore kept_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, std::shared_ptr<Compilation>> open_ ABSL_GUARDED_BY(mutex_);  // queued or running
  std::deque<std::shared_ptr<Compilation>> queue_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<Lane>> lanes_ ABSL_GUARDED_BY(mutex_);
  CallbackThread callbacks_;  // the last member: it ends before what its callbacks touch
};

}  // namespace telemetry::worker::tune
