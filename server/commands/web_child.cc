#include "server/commands/web_child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/log/log.h"
#include "server/net/socket.h"

namespace telemetry::commands {
namespace {

constexpr absl::Duration kShortestPause = absl::Seconds(1);
constexpr absl::Duration kLongestPause = absl::Minutes(1);
// A program that ran for this long is started again after the shortest pause.
constexpr absl::Duration kRanWell = absl::Minutes(5);
// The pages give way to the records that this process stores.
constexpr int kNiceness = 10;
constexpr absl::Duration kGrace = absl::Seconds(5);
constexpr size_t kMostLine = 300;
constexpr absl::string_view kListening = "listening on ";

// Runs in the child, where only functions that are safe in signal handlers may be called.
[[noreturn]] void Become(char* const* arguments, int out, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(1);  // the parent has died already
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  setpriority(PRIO_PROCESS, 0, kNiceness);
  dup2(out, STDOUT_FILENO);
  close_range(STDERR_FILENO + 1, ~0U, 0);
  execv(arguments[0], arguments);
  _exit(127);
}

std::string Ending(int status) {
  if (WIFSIGNALED(status)) return absl::StrCat("signal ", WTERMSIG(status));
  return absl::StrCat("exit status ", WEXITSTATUS(status), WEXITSTATUS(status) == 127 ? " (not found?)" : "");
}

}  // namespace

WebChild::WebChild(std::vector<std::string> command) : command_(std::move(command)), thread_([this] { Run(); }) {}

WebChild::~WebChild() {
  {
    absl::MutexLock lock(&mutex_);
    is_stopping_ = true;
    changed_.NotifyAll();
    if (pid_ != 0) kill(pid_, SIGTERM);
    const auto ended = [this] {
      mutex_.AssertHeld();
      return pid_ == 0;
    };
    if (!changed_.Await(mutex_, SteadyAfter(kGrace), ended)) kill(pid_, SIGKILL);
  }
  thread_.join();
}

absl::StatusOr<std::string> WebChild::AwaitAddress(absl::Duration timeout) {
  absl::MutexLock lock(&mutex_);
  changed_.Await(mutex_, SteadyAfter(timeout), [this] {
    mutex_.AssertHeld();
    return !address_.empty() || !first_ending_.empty();
  });
  if (!address_.empty()) return address_;
  const std::string why = first_ending_.empty() ? "it does not listen" : absl::StrCat("it ended with ", first_ending_);
  return absl::UnavailableError(absl::StrCat("cannot serve the pages: ", command_.front(), ": ", why));
}

void WebChild::Run() {
  absl::Duration pause = kShortestPause;
  while (true) {
    const SteadyTime begin = SteadyNow();
    const std::string ending = RunOnce();
    if (ElapsedSince(begin) > kRanWell) pause = kShortestPause;
    absl::MutexLock lock(&mutex_);
    if (first_ending_.empty()) first_ending_ = ending;
    changed_.NotifyAll();
    if (is_stopping_) return;
    log::Warn("telemetry-web ended; starting it again", {{"ending", ending}, {"pause_s", absl::ToInt64Seconds(pause)}});
    const auto stopping = [this] {
      mutex_.AssertHeld();
      return is_stopping_;
    };
    if (changed_.Await(mutex_, SteadyAfter(pause), stopping)) return;
    pause = std::min(2 * pause, kLongestPause);
  }
}

std::string WebChild::RunOnce() {
  std::array<int, 2> ends = {};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return absl::StrCat("no pipe: ", strerror(errno));
  const net::Socket reading(ends[0]);
  net::Socket writing(ends[1]);
  std::vector<char*> arguments;
  for (const std::string& argument : command_) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  pid_t pid = 0;
  {
    absl::MutexLock lock(&mutex_);
    if (is_stopping_) return "nothing: it was not started";
    const pid_t parent = getpid();
    pid = fork();
    if (pid == 0) Become(arguments.data(), writing.fd(), parent);
    if (pid < 0) return absl::StrCat("no process: ", strerror(errno));
    pid_ = pid;
  }
  writing = net::Socket();
  ReadAddress(reading.fd());
  // Waits without reaping first, so that pid_ names no other process while it is used.
  siginfo_t info = {};
  while (waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) continue;
  absl::MutexLock lock(&mutex_);
  int status = 0;
  waitpid(pid, &status, 0);
  pid_ = 0;
  changed_.NotifyAll();
  return Ending(status);
}

void WebChild::ReadAddress(int fd) {
  std::string line;
  char c = 0;
  // The program prints nothing after this line.
  while (line.size() < kMostLine && read(fd, &c, 1) == 1 && c != '\n') line.push_back(c);
  if (!absl::StartsWith(line, kListening)) return;
  absl::MutexLock lock(&mutex_);
  address_ = line.substr(kListening.size());
  changed_.NotifyAll();
}

std::string SiblingProgram(const std::string& name) {
  std::error_code error;
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe", error);
  return (own.parent_path() / name).string();
}

}  // namespace telemetry::commands
