// hostile-client ATTACK PORT METRICS_PORT HOST TALLY: attacks the collector on 127.0.0.1:PORT until the process is
// killed, and counts its actions in the file TALLY. TELEMETRY_FAULTS has the same meaning as for the tests. Without
// arguments: prints the names of the attacks.

#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/faults/attacks/attack.h"

namespace telemetry::faults {
namespace {

void OpenAsManyFilesAsMayBe() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

// The attacker shares the machine with the collector. It runs when nothing else does, so that its own work does not
// delay the collector. A short run does not compare delays, and on a busy machine such a process could get almost no
// time.
bool LowerPriority() {
  if (!FullSize()) return setpriority(PRIO_PROCESS, 0, 10) == 0;
  const sched_param priority = {.sched_priority = 0};
  return sched_setscheduler(0, SCHED_IDLE, &priority) == 0;
}

int PrintAttacks() {
  for (const Attack& attack : AllAttacks()) std::printf("%s\n", attack.name.c_str());
  return 0;
}

int Run(const std::string& name, const Target& target) {
  signal(SIGPIPE, SIG_IGN);
  OpenAsManyFilesAsMayBe();
  if (!LowerPriority()) std::perror("lower the priority of an attacker");
  for (const Attack& attack : AllAttacks()) {
    if (attack.name == name) attack.run(target);
  }
  std::fprintf(stderr, "there is no attack '%s'\n", name.c_str());
  return 2;
}

}  // namespace
}  // namespace telemetry::faults

int main(int argc, char** argv) {
  if (argc == 1) return telemetry::faults::PrintAttacks();
  if (argc != 6) return 2;
  telemetry::faults::Tally tally(argv[5]);
  return telemetry::faults::Run(argv[1], {.port = std::atoi(argv[2]),
                                          .metrics_port = std::atoi(argv[3]),
                                          .host = static_cast<uint32_t>(std::atoi(argv[4])),
                                          .tally = tally});
}
