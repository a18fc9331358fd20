#pragma once

#include <sys/types.h>

#include <cstdint>
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

namespace telemetry::worker::tune::process {

// The program that children run. The default is this program, started as `PROGRAM tune-child ROLE`; its main must call
// RunTuneChild (worker/tune/tune_child.h) before anything else. A program that cannot do so sets the path of an
// installed telemetry-worker.
struct ChildProgram {
  std::string path = "/proc/self/exe";
  std::vector<std::string> arguments = {"tune-child"};  // the role's name is appended
};

// Options of a ChildProcess.
struct ChildOptions {
  ChildProgram program;
  std::string role;  // "compile"; also names the child in messages
  size_t message_limit_bytes = kDefaultMessageLimitBytes;
};

// The memory that the work of a child may use, if nothing else is said: enough for every ordinary compilation.
inline constexpr uint64_t kDefaultMemoryLimitBytes = uint64_t{4} << 30;

// A child process and the connection to it. Messages are sent in frames over a socket pair, in both directions. The end
// of the child's output is kept for failure logs. The child inherits no other descriptors, leads its own process group,
// and dies with this process in every case, because it detects the end of its socket (see ParentConnection).
//
// Only one thread may use it at a time, except for Interrupt, which any thread may call.
class ChildProcess {
 public:
  // UNAVAILABLE: the program cannot be started; the message contains the reason. FAILED_PRECONDITION: this process is
  // itself a child that does not serve requests, so each child would start another one without end. The message names
  // the missing call in main.
  static absl::StatusOr<std::unique_ptr<ChildProcess>> Start(const ChildOptions& options);
  ~ChildProcess();  // kills the child
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Sends one message with descriptors (at most kMaxFrameFds; the caller keeps them).
  //   INVALID_ARGUMENT    the message is over the limit; use SharedBytes. Nothing was sent.
  //   DEADLINE_EXCEEDED   the message was not received in time; the child was killed, because half of it was sent.
  //   UNAVAILABLE         the child has ended; the message contains its exit status and the end of its output.
  //   RESOURCE_EXHAUSTED  the child was killed, because it exceeded the limit of LimitMemory.
  absl::Status Send(const google::protobuf::MessageLite& message, absl::Duration timeout,
                    absl::Span<const int> fds = {});

  // Waits for the child's next message. Stores the descriptors that came with it in `fds`, or closes them if it is
  // null.
  //   DEADLINE_EXCEEDED   no message yet. The child continues; the next Receive continues with a partial message.
  //   UNAVAILABLE         the child has ended, as above. All messages that it sent have been received.
  //   RESOURCE_EXHAUSTED  as above.
  //   DATA_LOSS           the child sent something other than such a message, or one over the limit; it was killed.
  absl::Status Receive(google::protobuf::MessageLite* message, absl::Duration timeout,
                       std::vector<OwnedFd>* fds = nullptr);

  // Sets the limit of the child's memory, in bytes of resident memory that it does not share; 0: none. It is compared
  // ten times a second while a Send or Receive waits, so a child may exceed it for a moment.
  void LimitMemory(uint64_t limit_bytes) { memory_limit_bytes_ = limit_bytes; }
  // Returns the child's resident memory in bytes, without shared memory; 0: the child has ended.
  uint64_t ResidentBytes() const;

  // Kills the child's process group and waits for the child's end, so that no zombie remains. Does nothing if the child
  // has ended.
  void Kill();

  // Kills the child, so that a Send or Receive that waits returns UNAVAILABLE soon. Does not wait. Any thread may call
  // it.
  void Interrupt();

  // Returns false once the child has ended. Does not wait.
  bool IsRunning();

  pid_t pid() const { return pid_; }
  // Returns the child's end; nullopt if this object has not observed it yet.
  std::optional<ChildEnding> ending() const;
  // Returns the end of the child's output on stdout and stderr so far, at most 64 KiB.
  std::string printed();
  // Forgets the output so far, which belongs to earlier work.
  void ForgetPrinted() { printed_.Clear(); }

 private:
  ChildProcess(std::string role, size_t message_limit_bytes, pid_t pid, OwnedFd socket, OwnedFd printed);

  absl::Status WaitFor(short event, const Deadline& deadline);
  absl::Status Write(FrameWriter* writer, const Deadline& deadline);
  absl::StatusOr<Frame> Read(const Deadline& deadline);
  absl::Status Ended();
  bool Reap(int wait_flags);

  const std::string role_;
  const size_t message_limit_bytes_;
  uint64_t memory_limit_bytes_ = 0;
  const pid_t pid_;
  OwnedFd socket_;
  StderrTail printed_;
  FrameReader reader_;
  mutable absl::Mutex mutex_;
  std::optional<ChildEnding> ending_ ABSL_GUARDED_BY(mutex_);  // set: the pid may belong to another process
};

}  // namespace telemetry::worker::tune::process
