#include "worker/tune/compile_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>

#include "tests/worker/tune/tune_fixture.h"

namespace telemetry::worker::tune {
namespace {

class CompileQueueTest : public testing::Test {
 protected:
  CompileQueueTest() : pool_(MakePool()), queue_(pool_.get(), fixture_.device().get()) {}

  std::unique_ptr<compile::CompilePool> MakePool() const {
    compile::CompilePoolOptions options = fixture_.Options(1).processes.compile;
    options.processes = 1;
    return compile::CompilePool::Create(options).value();
  }
  static codegen::Config ConfigOf(int n) { return *codegen::Config::Parse("Config(n=" + std::to_string(n) + ")"); }
  void Submit(int n) {
    codegen::GeneratedKernel generated;
    generated.source = "__kernel void k(__global int* x) { x[0] = " + std::to_string(n) + "; }";
    queue_.Submit(
        std::make_shared<const Candidate>(Candidate{.config = ConfigOf(n), .generated = std::move(generated)}));
  }
  int64_t InPool() const { return pool_->stats().submitted; }

  TuneFixture fixture_;
  std::unique_ptr<compile::CompilePool> pool_;
  CompileQueue queue_;
};

TEST_F(CompileQueueTest, CompilersDoNotRunFarAhead) {
  for (int n = 0; n < 10; ++n) Submit(n);
  EXPECT_EQ(queue_.under_way(), 10u);
  EXPECT_EQ(InPool(), 3);
  pool_->Drain();
  EXPECT_EQ(InPool(), 3) << "compiled candidates count until they are taken";
  for (int n = 0; n < 10; ++n) {
    const std::optional<CompiledCandidate> next = queue_.Next(absl::InfiniteDuration());
    ASSERT_TRUE(next.has_value());
    EXPECT_TRUE(next->result.code.ok()) << next->result.log();
    EXPECT_EQ(next->candidate->config, ConfigOf(n)) << "one compiler keeps the order";
    EXPECT_EQ(InPool(), std::min(10, n + 4));
  }
  EXPECT_EQ(queue_.under_way(), 0u);
}

TEST_F(CompileQueueTest, AnAwaitedCandidateDoesNotWaitForOthers) {
  for (int n = 0; n < 10; ++n) Submit(n);
  EXPECT_EQ(queue_.Await(ConfigOf(9).id()).candidate->config, ConfigOf(9));
  EXPECT_EQ(queue_.under_way(), 9u);
  EXPECT_LT(InPool(), 10) << "the others were not all compiled before";
  for (int n = 0; n < 9; ++n) EXPECT_EQ(queue_.Next(absl::InfiniteDuration())->candidate->config, ConfigOf(n));
}

TEST_F(CompileQueueTest, ACompiledCandidateIsAnEventIfOneIsWanted) {
  Submit(0);
  queue_.AwaitEvent(/*or_compiled=*/true, absl::InfiniteDuration());
  EXPECT_TRUE(queue_.Poll().has_value());
  EXPECT_EQ(queue_.under_way(), 0u);
}

TEST_F(CompileQueueTest, AWaitForEventsEndsWhenItIsWoken) {
  Submit(0);
  pool_->Drain();
  queue_.Wake();
  queue_.AwaitEvent(/*or_compiled=*/false, absl::InfiniteDuration());
  std::thread waker([this] { queue_.Wake(); });
  queue_.AwaitEvent(/*or_compiled=*/false, absl::InfiniteDuration());
  waker.join();
  EXPECT_TRUE(queue_.Poll().has_value());
}

TEST_F(CompileQueueTest, WaitingCandidatesCanBeDropped) {
  for (int n = 0; n < 10; ++n) Submit(n);
  queue_.DropWaiting();
  EXPECT_EQ(queue_.under_way(), 3u);
  for (int n = 0; n < 3; ++n) EXPECT_EQ(queue_.Next(absl::InfiniteDuration())->candidate->config, ConfigOf(n));
  EXPECT_EQ(queue_.under_way(), 0u);
  EXPECT_EQ(InPool(), 3);
}

}  // namespace
}  // namespace telemetry::worker::tune
