#pragma once

#include <sys/types.h>

#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "proto/base/steady.h"

namespace telemetry::commands {

// telemetry-web as a child process, at a lower priority: it is started again when it ends, after a pause that grows
// from a second to a minute, and it ends with this process, whatever ends this process.
class WebChild {
 public:
  // Starts a thread that starts the program. `command`: the path of the program and its arguments.
  explicit WebChild(std::vector<std::string> command);
  // Ends the program: with SIGTERM, after five seconds with SIGKILL.
  ~WebChild();

  // Waits until the program listens. Returns the address that it printed. UNAVAILABLE: it ended, or it does not listen
  // after `timeout`.
  absl::StatusOr<std::string> AwaitAddress(absl::Duration timeout) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Run() ABSL_LOCKS_EXCLUDED(mutex_);
  // Runs the program until it ends. Returns how it ended.
  std::string RunOnce() ABSL_LOCKS_EXCLUDED(mutex_);
  void ReadAddress(int fd) ABSL_LOCKS_EXCLUDED(mutex_);

  const std::vector<std::string> command_;
  absl::Mutex mutex_;
  SteadyCondition changed_;
  bool is_stopping_ ABSL_GUARDED_BY(mutex_) = false;
  pid_t pid_ ABSL_GUARDED_BY(mutex_) = 0;             // 0: not running
  std::string address_ ABSL_GUARDED_BY(mutex_);       // empty: not known yet
  std::string first_ending_ ABSL_GUARDED_BY(mutex_);  // how the program ended the first time; empty: it has not ended
  std::thread thread_;                                // declared last, because it uses all members above
};

// Returns the path of a program in the folder of this one.
std::string SiblingProgram(const std::string& name);

}  // namespace telemetry::commands
