#include <gtest/gtest.h>

#include <csignal>
#include <cstring>
#include <optional>

#include "tests/worker/tune/measure/waiting_tuner.h"
#include "worker/tune/tune_child.h"

namespace tune = telemetry::worker::tune;

// This program is also run as a measuring process and as a tuner that is killed.
int main(int argc, char** argv) {
  std::signal(SIGSEGV, SIG_DFL);  // otherwise a sanitizer would handle the signal of a kernel that crashes
  if (const std::optional<int> exit_status = tune::RunTuneChild(argc, argv)) return *exit_status;
  if (argc >= 2 && std::strcmp(argv[1], tune::measure::kWaitingTuner) == 0) return tune::measure::RunWaitingTuner();
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
