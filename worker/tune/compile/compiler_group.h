#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "worker/tune/compile/compile_job.h"
#include "worker/tune/compile/compiler.h"

namespace telemetry::worker::tune::compile {

// Compiler processes that any number of members share: the pools of a host's devices. A compiler that is free takes a
// source of the member that has the fewest sources in compilers, so that members with work have equal shares, and one
// alone has all compilers. A source that crashes or hangs its compiler costs its own member one result. Processes start
// when there is work for them, and end with the group. Thread-safe.
class CompilerGroup {
 public:
  // One source that waits for a compiler or is in one.
  struct Task {
    explicit Task(CompileJob compiled) : job(std::move(compiled)) {}
    virtual ~Task() = default;
    const CompileJob job;
    std::atomic<bool> cancelled = false;
  };

  // A member's functions, which the compilers' threads call, several at a time, and its folder.
  struct Calls {
    std::function<absl::Duration(Task* task)> limit_for;  // returns the time limit of a source that compiles
    std::function<void(Task* task, CompileResult result)> finish;
    std::string code_folder;  // the path of the CodeFolder that keeps the member's code; empty: none
  };

  // A member. Thread-safe. The destructor cancels its tasks and waits until no call of its functions is running.
  class Member {
   public:
    Member(std::shared_ptr<CompilerGroup> group, Calls calls);
    ~Member();
    Member(const Member&) = delete;
    Member& operator=(const Member&) = delete;

    // Queues a task: as the member's last one, or before all of its others.
    void Add(std::shared_ptr<Task> task, bool is_first);
    // Moves a task to the front if it is waiting.
    void MoveFirst(const Task* task);
    // Marks the tasks as cancelled. Those that wait are dropped without a call; those in compilers end soon.
    void CancelAll();

    const CompilerGroup& group() const { return *group_; }

   private:
    friend class CompilerGroup;
    bool IsIdle() const { return running_ == 0; }

    const std::shared_ptr<CompilerGroup> group_;
    const Calls calls_;
    // Guarded by the group's mutex.
    std::deque<std::shared_ptr<Task>> waiting_;
    int running_ = 0;
    uint64_t served_ = 0;  // the number of tasks that had begun in the group when this member's last one began
  };

  // `processes` is the maximum; 0: one per usable processor. INVALID_ARGUMENT: it is negative.
  static absl::StatusOr<std::shared_ptr<CompilerGroup>> Create(CompilerOptions options, int processes);
  ~CompilerGroup();
  CompilerGroup(const CompilerGroup&) = delete;
  CompilerGroup& operator=(const CompilerGroup&) = delete;

  int processes() const { return processes_; }

  // Starts all processes, and compiles this source in each before its first task, so that no task waits for the start
  // of a process or for the compiler's library. Returns immediately; the result is ignored. Later calls do nothing.
  void Prewarm(const CompileJob& job, absl::Duration time_limit);

 private:
  // A thread with its compiler process.
  struct Lane {
    explicit Lane(const CompilerOptions& options) : compiler(options) {}
    Compiler compiler;
    Member* member = nullptr;  // whose task is running; null: idle
    Task* task = nullptr;      // that is running
    bool is_free = true;       // no task compiles; the result of the last one may not be delivered yet
    bool is_warm = true;       // false: it compiles the source of Prewarm before its first task
    std::thread thread;
  };

  CompilerGroup(CompilerOptions options, int processes) : options_(std::move(options)), processes_(processes) {}

  bool HasWork() const ABSL_SHARED_LOCKS_REQUIRED(mutex_);
  // Returns the member whose turn it is; null: no task waits.
  Member* NextMember() const ABSL_SHARED_LOCKS_REQUIRED(mutex_);
  void StartLaneIfNeeded() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Lane* StartLane() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Run(Lane* lane);
  void WarmUp(Lane* lane);
  // Waits for a task and gives it to the lane. Returns null when the group ends.
  std::shared_ptr<Task> Next(Lane* lane);

  const CompilerOptions options_;
  const int processes_;
  mutable absl::Mutex mutex_;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  uint64_t begun_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<Member*> members_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<Lane>> lanes_ ABSL_GUARDED_BY(mutex_);
  CompileJob warm_up_ ABSL_GUARDED_BY(mutex_);  // without a source: none
  absl::Duration warm_up_limit_ ABSL_GUARDED_BY(mutex_);
  std::atomic<bool> warm_up_cancelled_ = false;
};

}  // namespace telemetry::worker::tune::compile
