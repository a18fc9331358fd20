#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "worker/tune/compile/compile_job.h"
#include "worker/tune/process/child_process.h"

namespace telemetry::worker::tune {

// One compiler process at a time: started when it is first needed, replaced after it died or was killed. One thread
// compiles; Interrupt is for any thread.
class Compiler {
 public:
  explicit Compiler(ChildProgram program) : program_(std::move(program)) {}

  // `cancelled` becomes true before the Interrupt that is meant for this job.
  CompileResult Compile(const CompileJob& job, absl::Duration time_limit, const std::atomic<bool>& cancelled);

  // Kills the process, if there is one.
  void Interrupt();

 private:
  absl::StatusOr<ChildProcess*> Child(const std::atomic<bool>& cancelled);
  absl::Status Exchange(ChildProcess* child, const CompileJob& job, absl::Duration time_limit, CompileResult* result);
  void Discard();

  const ChildProgram program_;
  absl::Mutex mutex_;
  std::unique_ptr<ChildProcess> child_ ABSL_GUARDED_BY(mutex_);  // set and reset by the compiling thread
  bool interrupted_ ABSL_GUARDED_BY(mutex_) = false;             // child_ was killed, and may take a moment to end
};

}  // namespace telemetry::worker::tune
