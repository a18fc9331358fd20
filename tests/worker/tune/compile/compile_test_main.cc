#include <gtest/gtest.h>

#include <optional>

#include "tests/worker/tune/compile/fake_compiler.h"
#include "worker/tune/tune_child.h"

// The compiler processes, fake and real, are this program.
int main(int argc, char** argv) {
  namespace tune = telemetry::worker::tune;
  if (const std::optional<int> exit_status = tune::compile::PlayCompiler(argc, argv)) return *exit_status;
  if (const std::optional<int> exit_status = tune::RunTuneChild(argc, argv)) return *exit_status;
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
