#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "tests/worker/tune/measure/measure_fixture.h"
#include "tests/worker/tune/measure/waiting_tuner.h"

extern char** environ;

namespace telemetry::worker::tune::measure {

namespace {

class WaitingTuner : public MeasureTest {
 public:
  void TestBody() override {
    SetUp();
    std::cout << '.' << std::flush;
    pause();
  }
};

bool IsGone(pid_t pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string text((std::istreambuf_iterator<char>(stat)), {});
  // A zombie has ended too. After the parent's death, another process reaps it.
  return text.empty() || text[text.rfind(')') + 2] == 'Z';
}

TEST(ParentDeathTest, EndsTheMeasuringProcesses) {
  int ready[2];
  ASSERT_EQ(pipe2(ready, O_CLOEXEC), 0);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ready[1], 1);
  char program[] = "/proc/self/exe";
  char role[sizeof(kWaitingTuner)];
  std::copy(std::begin(kWaitingTuner), std::end(kWaitingTuner), role);
  char* arguments[] = {program, role, nullptr};
  pid_t tuner = -1;
  ASSERT_EQ(posix_spawn(&tuner, program, &actions, nullptr, arguments, environ), 0);
  posix_spawn_file_actions_destroy(&actions);
  close(ready[1]);
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1) << "the tuner did not become ready";
  close(ready[0]);

  const std::vector<pid_t> children = ListChildren(tuner);
  EXPECT_EQ(children.size(), 2u) << "one active, one on standby";
  ASSERT_EQ(kill(tuner, SIGKILL), 0);
  ASSERT_EQ(waitpid(tuner, nullptr, 0), tuner);
  const absl::Time until = absl::Now() + absl::Seconds(30);
  for (const pid_t child : children) {
    while (!IsGone(child) && absl::Now() < until) absl::SleepFor(absl::Milliseconds(5));
    EXPECT_TRUE(IsGone(child));
  }
}

}  // namespace

int RunWaitingTuner() {
  WaitingTuner().TestBody();
  return 1;
}

}  // namespace telemetry::worker::tune::measure
