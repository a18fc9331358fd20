#include "worker/tune/process/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "worker/tune/process/spawn.h"

namespace telemetry::worker::tune::process {
namespace {

constexpr size_t kPrintedInMessageBytes = 4096;
constexpr int kMemoryCheckMs = 100;

// Both ends of a child's descriptors. No other process has the parent's ends, so they see the end of the child.
struct Connection {
  OwnedFd socket, child_socket;
  OwnedFd printed, child_printed;
  OwnedFd nothing;
};

absl::StatusOr<Connection> Connect() {
  std::array<int, 2> sockets = {-1, -1};
  std::array<int, 2> pipe = {-1, -1};
  Connection ends;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) == 0) {
    ends.socket = OwnedFd(sockets[0]);
    ends.child_socket = OwnedFd(sockets[1]);
  }
  if (pipe2(pipe.data(), O_CLOEXEC) == 0) {
    ends.printed = OwnedFd(pipe[0]);
    ends.child_printed = OwnedFd(pipe[1]);
  }
  ends.nothing = OwnedFd(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!ends.socket.is_open() || !ends.printed.is_open() || !ends.nothing.is_open() ||
      fcntl(ends.printed.get(), F_SETFL, O_NONBLOCK) != 0) {
    return absl::UnavailableError(
        absl::StrCat("cannot create descriptors for a child process: ", std::strerror(errno)));
  }
  return ends;
}

// Resolves "/proc/self/exe" for a readable name in process lists.
std::string ProcessName(const std::string& path) {
  std::array<char, PATH_MAX> target;
  const ssize_t size = readlink(path.c_str(), target.data(), target.size());
  return path.starts_with("/proc/") && size > 0 ? std::string(target.data(), static_cast<size_t>(size)) : path;
}

absl::StatusOr<pid_t> SpawnChild(const ChildOptions& options, const Connection& ends) {
  const std::array<int, 4> fds = {ends.nothing.get(), ends.child_printed.get(), ends.child_printed.get(),
                                  ends.child_socket.get()};
  std::vector<std::string> arguments = {ProcessName(options.program.path)};
  arguments.insert(arguments.end(), options.program.arguments.begin(), options.program.arguments.end());
  arguments.push_back(options.role);
  return Spawn(options.program.path, arguments, fds);
}

}  // namespace

absl::StatusOr<std::unique_ptr<ChildProcess>> ChildProcess::Start(const ChildOptions& options) {
  if (std::getenv(kChildVariable) != nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("this process was started as a child process but does not serve requests: call RunTuneChild "
                     "first in main, or name another program in ChildProgram (the environment contains ",
                     kChildVariable, ")"));
  }
  ASSIGN_OR_RETURN(Connection ends, Connect());
  ASSIGN_OR_RETURN(const pid_t pid, SpawnChild(options, ends));
  return absl::WrapUnique(new ChildProcess(options.role, options.message_limit_bytes, pid, std::move(ends.socket),
                                           std::move(ends.printed)));
}

ChildProcess::ChildProcess(std::string role, size_t message_limit_bytes, pid_t pid, OwnedFd socket, OwnedFd printed)
    : role_(std::move(role)),
      message_limit_bytes_(message_limit_bytes),
      pid_(pid),
      socket_(std::move(socket)),
      printed_(std::move(printed)),
      reader_(message_limit_bytes) {}

ChildProcess::~ChildProcess() { Kill(); }

absl::Status ChildProcess::Send(const google::protobuf::MessageLite& message, absl::Duration timeout,
                                absl::Span<const int> fds) {
  ASSIGN_OR_RETURN(FrameWriter writer, FrameWriter::Create(message, fds, message_limit_bytes_));
  absl::Status status = Write(&writer, Deadline(timeout));
  if (absl::IsUnavailable(status)) return Ended();
  if (!status.ok()) Kill();
  return status;
}

absl::Status ChildProcess::Receive(google::protobuf::MessageLite* message, absl::Duration timeout,
                                   std::vector<OwnedFd>* fds) {
  absl::StatusOr<Frame> frame = Read(Deadline(timeout));
  if (absl::IsUnavailable(frame.status())) return Ended();
  if (absl::IsDeadlineExceeded(frame.status())) return frame.status();
  if (absl::IsResourceExhausted(frame.status())) {
    Kill();
    return frame.status();
  }
  const absl::Status status = frame.ok() ? ParseFrame(*frame, message) : frame.status();
  if (!status.ok()) {
    Kill();
    return absl::Status(status.code(), absl::StrCat("the ", role_, " process ", pid_, ": ", status.message()));
  }
  if (fds != nullptr) *fds = std::move(frame->fds);
  return absl::OkStatus();
}

absl::Status ChildProcess::Write(FrameWriter* writer, const Deadline& deadline) {
  while (socket_.is_open()) {
    const absl::StatusOr<bool> done = writer->Write(socket_.get());
    if (!done.ok() || *done) return done.status();
    RETURN_IF_ERROR(WaitFor(POLLOUT, deadline));
  }
  return absl::UnavailableError("");
}

absl::StatusOr<Frame> ChildProcess::Read(const Deadline& deadline) {
  while (socket_.is_open()) {
    ASSIGN_OR_RETURN(const bool done, reader_.Read(socket_.get()));
    if (done) return reader_.Take();
    RETURN_IF_ERROR(WaitFor(POLLIN, deadline));
  }
  return absl::UnavailableError("");
}

// Reads the child's output while it waits. Otherwise a child with much output would block on the full pipe forever.
absl::Status ChildProcess::WaitFor(short event, const Deadline& deadline) {
  if (deadline.IsOver()) {
    return absl::DeadlineExceededError(absl::StrCat("the ", role_, " process ", pid_, " did not answer in time"));
  }
  if (memory_limit_bytes_ > 0 && ResidentBytes() > memory_limit_bytes_) {
    return absl::ResourceExhaustedError(absl::StrCat("the ", role_, " process ", pid_, " used more than ",
                                                     memory_limit_bytes_ >> 20, " MiB of memory and was killed"));
  }
  const int wait_ms = memory_limit_bytes_ > 0 ? std::min(deadline.PollMs(), kMemoryCheckMs) : deadline.PollMs();
  std::array<pollfd, 2> fds = {pollfd{.fd = socket_.get(), .events = event},
                               pollfd{.fd = printed_.fd(), .events = POLLIN}};
  if (poll(fds.data(), fds.size(), wait_ms) < 0 && errno != EINTR) {
    return absl::InternalError(absl::StrCat("poll failed: ", std::strerror(errno)));
  }
  if (fds[1].revents != 0) printed_.Read();
  return absl::OkStatus();
}

// The socket closes when the child is exiting. Its exit status is then fixed, and the signal does not change it. A
// child that closed only its socket is useless.
absl::Status ChildProcess::Ended() {
  Kill();
  std::string text = printed();
  if (text.size() > kPrintedInMessageBytes) text.erase(0, text.size() - kPrintedInMessageBytes);
  return absl::UnavailableError(absl::StrCat("the ", role_, " process ", pid_, " ", ending()->Describe(),
                                             text.empty() ? "" : absl::StrCat("; the end of its output:\n", text)));
}

void ChildProcess::Kill() {
  Interrupt();
  Reap(0);
  socket_ = OwnedFd();
}

void ChildProcess::Interrupt() {
  absl::MutexLock lock(&mutex_);
  if (!ending_.has_value()) kill(-pid_, SIGKILL);
}

// The process is not waited for by others, so its pid is not reused before Reap().
uint64_t ChildProcess::ResidentBytes() const {
  std::ifstream file(absl::StrCat("/proc/", pid_, "/statm"));
  uint64_t all = 0;
  uint64_t resident = 0;
  uint64_t shared = 0;
  if (!(file >> all >> resident >> shared) || shared > resident) return 0;
  return (resident - shared) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

bool ChildProcess::IsRunning() { return !Reap(WNOHANG); }

// Waits without the lock and leaves the child a zombie meanwhile, so that Interrupt never signals another process that
// has reused the pid.
bool ChildProcess::Reap(int wait_flags) {
  if (ending().has_value()) return true;
  siginfo_t info = {};
  int result = 0;
  do {
    result = waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT | wait_flags);
  } while (result != 0 && errno == EINTR);
  if (result == 0 && info.si_pid == 0) return false;
  absl::MutexLock lock(&mutex_);
  kill(-pid_, SIGKILL);  // processes that the child started
  int status = 0;
  const bool is_known = waitpid(pid_, &status, WNOHANG) == pid_;  // false if this program waits for all children
  ending_ = is_known ? ChildEnding::FromWaitStatus(status) : ChildEnding();
  return true;
}

std::optional<ChildEnding> ChildProcess::ending() const {
  absl::MutexLock lock(&mutex_);
  return ending_;
}

std::string ChildProcess::printed() {
  printed_.Read();
  return printed_.Text();
}

}  // namespace telemetry::worker::tune::process
