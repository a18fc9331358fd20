#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "worker/tune/compile/compile_job.h"
#include "worker/tune/compile/compile_messages.pb.h"
#include "worker/tune/process/child_process.h"

namespace telemetry::worker::tune::compile {

// Options of a Compiler.
struct CompilerOptions {
  process::ChildProgram program;
  uint64_t memory_limit_bytes = 0;  // that a process may use; 0: no limit
};

// Runs one compiler process at a time. The process is started when it is first needed. It is replaced after it died or
// was killed, and when it holds a quarter of its memory limit between two jobs. One thread calls Compile; any thread
// may call Interrupt.
class Compiler {
 public:
  explicit Compiler(CompilerOptions options) : options_(std::move(options)) {}

  // Returns the time limit of a source. Called again while the source compiles, since the limit may have fallen.
  using TimeLimit = std::function<absl::Duration()>;

  // Compiles one source. `cancelled` must become true before the Interrupt call that cancels this job. `code_folder` is
  // the path of the CodeFolder that keeps the code; empty: none. Code that is there needs no process.
  CompileResult Compile(const CompileJob& job, const TimeLimit& time_limit, const std::atomic<bool>& cancelled,
                        const std::string& code_folder = "");

  // Kills the process, if there is one.
  void Interrupt();

 private:
  absl::StatusOr<process::ChildProcess*> Child(const std::atomic<bool>& cancelled);
  static absl::Status Exchange(process::ChildProcess* child, const CompileRequest& request, const TimeLimit& time_limit,
                               CompileResult* result);
  bool HasRoom(const process::ChildProcess& child) const;
  void Discard();

  const CompilerOptions options_;
  absl::Mutex mutex_;
  std::unique_ptr<process::ChildProcess> child_
      ABSL_GUARDED_BY(mutex_);                        // set and reset by the thread that calls Compile
  bool interrupted_ ABSL_GUARDED_BY(mutex_) = false;  // true: child_ was killed and may still be running
};

}  // namespace telemetry::worker::tune::compile
