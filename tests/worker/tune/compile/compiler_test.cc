#include "worker/tune/compile/compiler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/worker/tune/compile/fake_compiler.h"

namespace telemetry::worker::tune::compile {
namespace {

absl::Duration Limit() { return absl::Seconds(60); }

// Tests that a job never gets the process that an Interrupt for the previous job is killing.
TEST(CompilerTest, TheJobAfterAnInterruptHasAProcessOfItsOwn) {
  Compiler compiler({.program = FakeCompiler()});
  const std::atomic<bool> cancelled = false;
  for (int i = 0; i < 20; ++i) {
    const CompileResult result = compiler.Compile({.source = "source"}, Limit, cancelled);
    ASSERT_TRUE(result.code.ok()) << result.code.status();
    compiler.Interrupt();
  }
}

// A source that makes its compiler use all memory costs one job.
TEST(CompilerTest, ACompilerThatExceedsTheMemoryLimitIsKilled) {
  Compiler compiler({.program = FakeCompiler(), .memory_limit_bytes = uint64_t{256} << 20});
  const std::atomic<bool> cancelled = false;
  const CompileResult result = compiler.Compile({.source = "hoard"}, Limit, cancelled);
  EXPECT_EQ(result.code.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(result.log(), testing::HasSubstr("used more than 256 MiB of memory and was killed while it compiled"));
  EXPECT_TRUE(compiler.Compile({.source = "source"}, Limit, cancelled).code.ok());
}

// A process of a long suite must not come closer to its memory limit with each source.
TEST(CompilerTest, ACompilerThatKeepsMemoryIsReplacedBetweenTwoJobs) {
  Compiler compiler({.program = FakeCompiler(), .memory_limit_bytes = uint64_t{1} << 30});
  const std::atomic<bool> cancelled = false;
  std::vector<pid_t> pids;
  for (const char* source : {"one", "keep", "two", "three"}) {
    const CompileResult result = compiler.Compile({.source = source}, Limit, cancelled);
    ASSERT_TRUE(result.code.ok()) << result.code.status();
    pids.push_back(PidIn(result.code->binary));
  }
  EXPECT_EQ(pids[0], pids[1]);
  EXPECT_NE(pids[1], pids[2]);
  EXPECT_EQ(pids[2], pids[3]);
}

}  // namespace
}  // namespace telemetry::worker::tune::compile
