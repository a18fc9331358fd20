#include "worker/tune/compile/compiler.h"

#include <gtest/gtest.h>

#include "tests/worker/tune/compile/fake_compiler.h"

namespace telemetry::worker::tune::compile {
namespace {

// Tests that a job never gets the process that an Interrupt for the previous job is killing.
TEST(CompilerTest, TheJobAfterAnInterruptHasAProcessOfItsOwn) {
  Compiler compiler(FakeCompiler(), "");
  const std::atomic<bool> cancelled = false;
  for (int i = 0; i < 20; ++i) {
    const CompileResult result = compiler.Compile({.source = "source"}, absl::Seconds(60), cancelled);
    ASSERT_TRUE(result.code.ok()) << result.code.status();
    compiler.Interrupt();
  }
}

}  // namespace
}  // namespace telemetry::worker::tune::compile
