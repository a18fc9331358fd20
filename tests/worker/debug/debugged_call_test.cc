#include "worker/debug/debugged_call.h"

#include <memory>
#include <vector>

#include "gmock/gmock.h"
#include "tests/worker/debug/debug_fixture.h"
#include "tests/worker/runtime/test_kernels.h"

namespace telemetry::worker::debug {
namespace {

using device::DType;
using runtime::AddScaledSpec;
using runtime::Arguments;
using runtime::Kernel;
using runtime::KernelSpec;
using runtime::MakeKernel;
using runtime::Settings;
using runtime::Tensor;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class DebuggedCallTest : public DebugTest {
 protected:
  // Runs add_scaled(x, x, 2) twice with a debugger and returns the result.
  std::vector<double> RunTwice(KernelSpec spec, DebugLevel level = DebugLevel::kPrint) {
    const std::unique_ptr<ValueDebugger> debugger = ValueDebugger::Create({.level = level, .folder = folder_}, Print());
    const std::unique_ptr<Kernel> kernel = MakeKernel(std::move(spec));
    const Tensor x = OnDevice(Array(DType::kF32, {3}, {1, 2, 3}));
    const Arguments arguments = {x, x, 2.0};
    const std::shared_ptr<runtime::BoundKernel> bound = kernel->Bind(arguments).value();
    const std::vector<Tensor> outputs = bound->AllocateOutputs(arguments).value();
    for (int i = 0; i < 2; ++i) EXPECT_EQ(RunInto(*bound, arguments, outputs, debugger.get()), absl::OkStatus());
    return ToHost(outputs[0])->data;
  }
  static KernelSpec WithDefaultConfig() {
    KernelSpec spec = AddScaledSpec();
    spec.settings = Settings{.use_default_config = true};
    return spec;
  }
};

TEST_F(DebuggedCallTest, ShowsWhatTheCallIsGiven) {
  EXPECT_THAT(RunTwice(WithDefaultConfig()), ElementsAre(3, 6, 9));
  ASSERT_EQ(printed_.size(), 22u);  // twice: 3 program inputs, then 4 values before and 4 after the launch
  EXPECT_THAT(printed_[2], StartsWith("[program_inputs - add_scaled - scale] 2 (float)"));
  EXPECT_THAT(printed_[5], StartsWith("[before_launch - add_scaled - scale] 2 (float)"));
  EXPECT_THAT(printed_[6], StartsWith("[before_launch - add_scaled - out] (output) elements=3"));
  EXPECT_THAT(printed_[9 + 1], AllOf(StartsWith("[after_launch - add_scaled - out]"), HasSubstr("values=[3, 6, 9]")));
}

// A search that takes the first config.
class TakesTheFirst final : public runtime::Search {
 public:
  absl::StatusOr<codegen::Config> Find(runtime::BoundKernel& /*kernel*/, absl::Span<const runtime::Argument> /*call*/,
                                       const runtime::AutotuneOptions& options) override {
    return options.configs.front();
  }
};

TEST_F(DebuggedCallTest, ACallThatPicksAmongSeveralStaysOff) {
  KernelSpec spec = AddScaledSpec();
  spec.search = std::make_shared<TakesTheFirst>();
  spec.configs = {runtime::Config("Config(block_sizes=[4])"), runtime::Config("Config(block_sizes=[8])")};
  EXPECT_THAT(RunTwice(std::move(spec)), ElementsAre(3, 6, 9));
  EXPECT_THAT(printed_, ElementsAre(HasSubstr("[add_scaled] picks among several kernels at run time")));
}

TEST_F(DebuggedCallTest, WhatPicks) {
  const auto picks = [](KernelSpec spec) { return PicksAtRunTime(**runtime::Define(std::move(spec))); };
  EXPECT_TRUE(picks(AddScaledSpec()));
  EXPECT_FALSE(picks(WithDefaultConfig()));
  KernelSpec fixed = AddScaledSpec();
  fixed.config = runtime::Config("Config(block_sizes=[4])");
  EXPECT_FALSE(picks(fixed));
  fixed.settings = Settings{.force_autotune = true};
  EXPECT_TRUE(picks(fixed));
}

TEST_F(DebuggedCallTest, ALaunchThatFailsIsNotShownAfterwards) {
  const std::unique_ptr<ValueDebugger> debugger = ValueDebugger::Create({.level = DebugLevel::kNames}, Print());
  const std::unique_ptr<Kernel> kernel = MakeKernel(WithDefaultConfig());
  const Tensor x = OnDevice(Array(DType::kF32, {3}, {1, 2, 3}));
  const Arguments arguments = {x, x, 2.0};
  EXPECT_FALSE(RunInto(*kernel->Bind(arguments).value(), arguments, {}, debugger.get()).ok());
  EXPECT_THAT(printed_, ElementsAre("[before_launch - add_scaled]"));
}

}  // namespace
}  // namespace telemetry::worker::debug
