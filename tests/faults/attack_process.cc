#include "tests/faults/attack_process.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

namespace telemetry::faults {

AttackProcess::AttackProcess(const Attack& attack, const bench::CollectorProcess& collector, uint32_t host,
                             const std::string& tally_file)
    : unit_(attack.unit), tally_(tally_file) {
  const std::string program = bench::ProgramPath("hostile-client");
  const std::string port = absl::StrCat(collector.port());
  const std::string metrics_port = absl::StrCat(collector.metrics_port());
  const std::string host_text = absl::StrCat(host);
  pid_ = fork();
  if (pid_ < 0) {
    std::perror("fork");
    std::abort();
  }
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execl(program.c_str(), program.c_str(), attack.name.c_str(), port.c_str(), metrics_port.c_str(), host_text.c_str(),
          tally_file.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
}

AttackProcess::~AttackProcess() { Stop(); }

bool AttackProcess::AwaitBegin() const {
  while (tally_.value() == 0) {
    if (HasEnded()) return false;
    absl::SleepFor(absl::Milliseconds(10));
  }
  return true;
}

bool AttackProcess::HasEnded() const {
  siginfo_t info = {};
  return waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid_;
}

bool AttackProcess::Stop() {
  if (pid_ < 0) return true;
  kill(pid_, SIGKILL);
  int status = 0;
  waitpid(std::exchange(pid_, -1), &status, 0);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

std::string AttackProcess::Done() const { return absl::StrCat(tally_.value(), " ", unit_); }

}  // namespace telemetry::faults
