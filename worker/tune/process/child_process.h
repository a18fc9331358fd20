#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "worker/tune/process/child_ending.h"
#include "worker/tune/process/deadline.h"
#include "worker/tune/process/frame.h"
#include "worker/tune/process/owned_fd.h"
#include "worker/tune/process/stderr_tail.h"

namespace telemetry::worker::tune {

// Which program children are. By default this one again, as `PROGRAM tune-child ROLE`: its main calls RunTuneChild
// (worker/tune/tune_child.h) before anything else. A program that cannot do so names an installed telemetry-worker.
struct ChildProgram {
  std::string path = "/proc/self/exe";
  std::vector<std::string> arguments = {"tune-child"};  // the role's name is added
};

struct ChildOptions {
  ChildProgram program;
  std::string role;  // "compile"; names the child in messages, too
  size_t message_limit_bytes = kDefaultMessageLimitBytes;
};

// A child process and the conversation with it: messages in frames over a socket pair, in both directions; what it
// prints is kept for failure logs. The child inherits no other descriptors, leads a process group of its
// own, and dies with this process however that ends: its end of the socket tells it (see ParentConnection).
//
// One thread at a time, but for Interrupt, which is for any thread.
class ChildProcess {
 public:
  // UNAVAILABLE: the program cannot be started; says why. FAILED_PRECONDITION: this process is itself a child that
  // never served, so that going on would start children for ever; says what main lacks.
  static absl::StatusOr<std::unique_ptr<ChildProcess>> Start(const ChildOptions& options);
  ~ChildProcess();  // kills
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Sends one message, and descriptors with it (at most kMaxFrameFds; they stay the caller's).
  //   INVALID_ARGUMENT    the message is over the limit: it belongs into SharedBytes. Nothing was sent.
  //   DEADLINE_EXCEEDED   the child did not take it in time; as half a message was sent, the child was killed.
  //   UNAVAILABLE         the child has ended; the message says how, with the end of what it printed.
  absl::Status Send(const google::protobuf::MessageLite& message, absl::Duration timeout,
                    absl::Span<const int> fds = {});

  // Waits for the child's next message. `fds`: descriptors that came with it; closed when null.
  //   DEADLINE_EXCEEDED   nothing yet. The child goes on; another Receive goes on where this one stopped.
  //   UNAVAILABLE         the child has ended, as above; what it sent before was received first.
  //   DATA_LOSS           it sent something else than such a message, or one over the limit; it was killed.
  absl::Status Receive(google::protobuf::MessageLite* message, absl::Duration timeout,
                       std::vector<OwnedFd>* fds = nullptr);

  // Kills the child's process group, waits for the child's end; no zombie remains. Nothing to do after it has ended.
  void Kill();

  // Any thread: kills, so that a Send or Receive that waits returns UNAVAILABLE soon. Does not wait.
  void Interrupt();

  // False once the child has ended; does not wait.
  bool IsRunning();

  pid_t pid() const { return pid_; }
  // How it ended; empty while it was not seen to have.
  std::optional<ChildEnding> ending() const;
  // The end of what it printed on stdout and stderr (64 KiB at most), up to now.
  std::string printed();

 private:
  ChildProcess(std::string role, size_t message_limit_bytes, pid_t pid, OwnedFd socket, OwnedFd printed);

  absl::Status WaitFor(short event, const Deadline& deadline);
  absl::Status Write(FrameWriter* writer, const Deadline& deadline);
  absl::StatusOr<Frame> Read(const Deadline& deadline);
  absl::Status Ended();
  bool Reap(int wait_flags);

  const std::string role_;
  const size_t message_limit_bytes_;
  const pid_t pid_;
  OwnedFd socket_;
  StderrTail printed_;
  FrameReader reader_;
  mutable absl::Mutex mutex_;
  std::optional<ChildEnding> ending_ ABSL_GUARDED_BY(mutex_);  // set: the pid may be somebody else's by now
};

}  // namespace telemetry::worker::tune
