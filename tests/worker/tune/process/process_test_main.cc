#include <gtest/gtest.h>

#include <optional>

#include "tests/worker/tune/process/child_roles.h"

// The tests start this program as their children.
int main(int argc, char** argv) {
  if (const std::optional<int> exit_status = telemetry::worker::tune::process::PlayRole(argc, argv))
    return *exit_status;
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
