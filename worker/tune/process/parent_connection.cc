#include "worker/tune/process/parent_connection.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "worker/tune/process/spawn.h"

namespace telemetry::worker::tune::process {
namespace {

absl::Status WaitFor(short event) {
  pollfd socket = {.fd = kMessageFd, .events = event};
  if (poll(&socket, 1, -1) >= 0 || errno == EINTR) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("poll failed: ", std::strerror(errno)));
}

// PR_SET_PDEATHSIG cannot be used: it sends the signal when the thread that started this process ends.
void EndWithParent() {
  pollfd socket = {.fd = kMessageFd, .events = POLLRDHUP};
  while (poll(&socket, 1, -1) < 0 && errno == EINTR) {
  }
  if (getpgrp() == getpid()) kill(0, SIGKILL);
  _exit(1);
}

void KeepNoCoreFiles() {
  const rlimit none = {.rlim_cur = 0, .rlim_max = 0};
  setrlimit(RLIMIT_CORE, &none);
}

// Makes the kernel kill this process, rather than its parent or another process of the machine, when memory runs out.
void BeTheFirstToGo() { std::ofstream("/proc/self/oom_score_adj") << 1000; }

}  // namespace

absl::StatusOr<std::unique_ptr<ParentConnection>> ParentConnection::Open(size_t message_limit_bytes) {
  // Programs that a child starts must not keep its connection open.
  if (std::getenv(kChildVariable) == nullptr || fcntl(kMessageFd, F_SETFD, FD_CLOEXEC) != 0) {
    return absl::FailedPreconditionError(
        "this is an internal command, which other commands start when they need it; it cannot be started by hand");
  }
  unsetenv(kChildVariable);
  close_range(kMessageFd + 1, ~0U, CLOSE_RANGE_CLOEXEC);
  KeepNoCoreFiles();
  BeTheFirstToGo();
  std::thread(EndWithParent).detach();
  return absl::WrapUnique(new ParentConnection(message_limit_bytes));
}

absl::Status ParentConnection::Receive(google::protobuf::MessageLite* message, std::vector<OwnedFd>* fds) {
  while (true) {
    ASSIGN_OR_RETURN(const bool done, reader_.Read(kMessageFd));
    if (done) break;
    RETURN_IF_ERROR(WaitFor(POLLIN));
  }
  Frame frame = reader_.Take();
  if (fds != nullptr) *fds = std::move(frame.fds);
  return ParseFrame(frame, message);
}

absl::Status ParentConnection::Send(const google::protobuf::MessageLite& message, absl::Span<const int> fds) {
  ASSIGN_OR_RETURN(FrameWriter writer, FrameWriter::Create(message, fds, message_limit_bytes_));
  while (true) {
    const absl::StatusOr<bool> done = writer.Write(kMessageFd);
    if (!done.ok() || *done) return done.status();
    RETURN_IF_ERROR(WaitFor(POLLOUT));
  }
}

}  // namespace telemetry::worker::tune::process
