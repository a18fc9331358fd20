// Tests `telemetry-worker best` as a program, with its cache and a fake collector.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "tests/client/fake_dataset.h"
#include "tests/run_program.h"
#include "worker/device/device.h"
#include "worker/device/open_device.h"
#include "worker/kernels/library.h"
#include "worker/tune/best_configs.h"
#include "worker/tune/library_subject.h"

namespace telemetry::worker::tune {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class BestCommandTest : public testing::Test {
 protected:
  BestCommandTest() {
    const kernels::LibraryKernel& kernel = **kernels::FindKernel("softmax");
    const std::vector<std::string> arguments = {"x=16x64:f32"};
    run_ = MakeLibraryRun(kernel, *kernels::ParseProblem(kernel, arguments), {},
                          (*device::OpenDevice("opencl:0"))->properties());
  }
  ~BestCommandTest() override { fs::remove_all(folder_); }

  void Cache(int warps, double perf_ms) {
    const auto config = *codegen::Config::Parse("Config(num_warps=" + std::to_string(warps) + ")");
    ASSERT_TRUE(BestConfigCache((folder_ / "best").string()).Put(MakeBestConfig(run_, config, perf_ms, "")).ok());
  }
  void Collect(int warps, double perf_ms, bool is_final = true) {
    v1::RunSummary summary;
    *summary.mutable_run() = run_;
    summary.set_best_config("Config(num_warps=" + std::to_string(warps) + ")");
    summary.set_best_perf_ms(perf_ms);
    summary.set_best_is_final(is_final);
    dataset_.Add(std::move(summary));
  }
  ProgramOutcome Best(const std::string& more = "") const {
    return RunProgram("telemetry-worker",
                      "best softmax --arg x=16x64:f32 --device opencl:0 --state-dir " + folder_.string() + " " + more);
  }
  ProgramOutcome BestWithCollector() const { return Best("--collector " + dataset_.address()); }

  const fs::path folder_ =
      fs::path(testing::TempDir()) / ("best-command-" + std::to_string(getpid()) + "-" +
                                      testing::UnitTest::GetInstance()->current_test_info()->name());
  client::FakeDataset dataset_{(fs::create_directories(folder_), folder_.string())};
  v1::Run run_;
};

TEST_F(BestCommandTest, NothingIsKnown) {
  for (const ProgramOutcome& outcome : {Best(), BestWithCollector()}) {
    EXPECT_EQ(outcome.exit_status, 1);
    EXPECT_THAT(outcome.output, HasSubstr("telemetry-worker tune"));
  }
}

TEST_F(BestCommandTest, WhatOnlyTheCollectorKnowsIsPrinted) {
  Collect(4, 0.5);
  EXPECT_EQ(Best().exit_status, 1);
  const ProgramOutcome outcome = BestWithCollector();
  EXPECT_EQ(outcome.exit_status, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("Config(num_warps=4)"));
}

TEST_F(BestCommandTest, OfTwoTheFasterOneIsPrinted) {
  Cache(8, 0.25);
  Collect(4, 0.5);
  EXPECT_THAT(BestWithCollector().output, HasSubstr("Config(num_warps=8)"));
  Collect(4, 0.125);
  EXPECT_THAT(BestWithCollector().output, HasSubstr("Config(num_warps=4)"));
}

TEST_F(BestCommandTest, AFinalIsPrintedBeforeAFasterSearchRow) {
  Cache(8, 0.25);
  Collect(4, 0.125, /*is_final=*/false);
  EXPECT_THAT(BestWithCollector().output, HasSubstr("Config(num_warps=8)"));
}

TEST_F(BestCommandTest, WithoutTheCollectorTheCacheAnswers) {
  Cache(8, 0.25);
  const ProgramOutcome outcome = Best("--collector unix:" + (folder_ / "nobody").string());
  EXPECT_EQ(outcome.exit_status, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("Config(num_warps=8)"));
  EXPECT_THAT(outcome.output, HasSubstr("nobody"));
}

}  // namespace
}  // namespace telemetry::worker::tune
