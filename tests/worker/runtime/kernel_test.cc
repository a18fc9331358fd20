#include "worker/runtime/kernel.h"

#include <atomic>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/worker/runtime/fake_device.h"
#include "tests/worker/runtime/test_kernels.h"

namespace telemetry::worker::runtime {
namespace {

using ::testing::HasSubstr;

TEST(KernelCreateTest, WhatIsGivenTwiceOrNotAtAllIsRefused) {
  const codegen::Config config = Config("Config(block_sizes=[32])");
  const auto with = [](auto change) {
    KernelSpec spec = AddScaledSpec();
    change(&spec);
    return spec;
  };
  const std::vector<std::pair<KernelSpec, std::string>> cases = {
      {with([&](KernelSpec* spec) { spec->config = config, spec->configs = {config}; }), "either config or configs"},
      {with([](KernelSpec* spec) {
         spec->settings = Settings(), spec->named_settings = {{"fast_math", "true"}};
       }),
       "either settings or named settings"},
      {with([](KernelSpec* spec) {
         spec->named_settings = {{"speed", "high"}};
       }),
       "unknown setting 'speed'"},
      {with([](KernelSpec* spec) {
         spec->named_settings = {{"print_repro", "true"}};
       }),
       "the setting print_repro needs a writer"},
      {with([](KernelSpec* spec) { spec->body = nullptr; }), "either body or body_of_arguments"},
      {with([](KernelSpec* spec) { spec->name = "kernel"; }), "'kernel', which is reserved"},
      {with([](KernelSpec* spec) { spec->parameters.push_back({.name = "x"}); }), "parameter 4"},
  };
  for (const auto& [spec, message] : cases) {
    const absl::Status status = Kernel::Create(spec).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr(message));
  }
}

class KernelTest : public ::testing::Test {
 protected:
  Tensor Vector(int64_t size) { return TensorOn(device_, {size}); }
  std::shared_ptr<BoundKernel> Bind(Kernel& kernel, const Arguments& arguments, const Signature::Named& named = {}) {
    absl::StatusOr<std::shared_ptr<BoundKernel>> bound = kernel.Bind(arguments, named);
    EXPECT_TRUE(bound.ok()) << bound.status();
    return bound.value_or(nullptr);
  }

  std::shared_ptr<FakeDevice> device_ = std::make_shared<FakeDevice>();
  std::atomic<int> traces_ = 0;
};

TEST_F(KernelTest, TheSameKeyGivesTheSameBoundKernel) {
  const auto kernel = MakeKernel(Counted(AddScaledSpec(), &traces_));
  const auto bound = Bind(*kernel, {Vector(64), Vector(64), 1.0});
  EXPECT_EQ(Bind(*kernel, {Vector(64), Vector(64), 2.5}), bound);
  EXPECT_EQ(Bind(*kernel, {Vector(64), Vector(64)}), bound) << "a default left out";
  EXPECT_EQ(Bind(*kernel, {Vector(64)}, {{"y", Vector(64)}}), bound) << "given by name";
  EXPECT_EQ(traces_, 1);
  EXPECT_NE(Bind(*kernel, {Vector(65), Vector(65)}), bound);
  EXPECT_EQ(traces_, 2);
}

TEST_F(KernelTest, SizesOfTwoAndMoreShareATraceWithoutStaticShapes) {
  KernelSpec spec = Counted(AddScaledSpec(), &traces_);
  spec.named_settings = {{"static_shapes", "false"}};
  const auto kernel = MakeKernel(std::move(spec));
  const auto bound = Bind(*kernel, {Vector(64), Vector(64)});
  EXPECT_EQ(Bind(*kernel, {Vector(1000), Vector(1000)}), bound);
  EXPECT_NE(Bind(*kernel, {Vector(1), Vector(1)}), bound);
  EXPECT_NE(Bind(*kernel, {StridedOn(device_, {64}, {2}), Vector(64)}), bound) << "a stride of 1 is an extra key";
  EXPECT_EQ(traces_, 3);
}

TEST_F(KernelTest, ASpecializedSizeIsAnExtraKey) {
  KernelSpec spec = AddScaledSpec();
  spec.settings = Settings{.static_shapes = false};
  spec.body = [](ir::Trace& trace) {
    trace.Specialize(trace.SizeOf(trace.Tensor("y"), 0));
    return AddScaled(trace);
  };
  const auto kernel = MakeKernel(Counted(std::move(spec), &traces_));
  const auto of_64 = Bind(*kernel, {Vector(64), Vector(64)});
  const auto of_80 = Bind(*kernel, {Vector(80), Vector(80)});
  EXPECT_NE(of_64, of_80);
  EXPECT_EQ(of_64->key(), of_80->key());
  EXPECT_EQ(Bind(*kernel, {Vector(64), Vector(64)}), of_64);
  EXPECT_EQ(Bind(*kernel, {Vector(80), Vector(80)}), of_80);
  EXPECT_EQ(traces_, 2);
  EXPECT_THAT(of_64->extra_keys().ToString(), HasSubstr("y.size(0)=64"));
}

TEST_F(KernelTest, ASpecializedScalarIsAnExtraKey) {
  KernelSpec spec = AddScaledSpec();
  spec.body = [](ir::Trace& trace) {
    trace.SpecializeScalar("scale");
    return AddScaled(trace);
  };
  const auto kernel = MakeKernel(Counted(std::move(spec), &traces_));
  const auto one = Bind(*kernel, {Vector(64), Vector(64)});
  EXPECT_EQ(Bind(*kernel, {Vector(64), Vector(64), 1.0}), one);
  EXPECT_NE(Bind(*kernel, {Vector(64), Vector(64), 2.0}), one);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(Bind(*kernel, {Vector(64), Vector(64), nan}), Bind(*kernel, {Vector(64), Vector(64), nan}));
  EXPECT_EQ(traces_, 3);
}

TEST_F(KernelTest, AnotherDeviceOfTheTypeIsBoundAnew) {
  const auto kernel = MakeKernel(AddScaledSpec());
  const auto other = std::make_shared<FakeDevice>(FakeDevice::Behaviour{.ordinal = 1});
  const auto bound = Bind(*kernel, {Vector(64), Vector(64)});
  const auto on_other = Bind(*kernel, {TensorOn(other, {64}), TensorOn(other, {64})});
  EXPECT_NE(bound, on_other);
  EXPECT_EQ(on_other->device(), other);
  EXPECT_FALSE(kernel->Bind({Vector(64), TensorOn(other, {64})}).ok());
}

TEST_F(KernelTest, ConstantsReachTheTracedFunction) {
  KernelSpec spec = AddScaledSpec();
  spec.parameters.push_back({.name = "twice", .kind = ParameterKind::kConstexpr, .default_value = Argument(false)});
  spec.body = [](ir::Trace& trace) {
    EXPECT_TRUE(trace.Constexpr<bool>("twice"));
    return AddScaled(trace);
  };
  EXPECT_NE(Bind(*MakeKernel(std::move(spec)), {Vector(64), Vector(64), 1.0, true}), nullptr);
}

TEST_F(KernelTest, AConstExprOfACallIsANumberInTheTrace) {
  KernelSpec spec = AddScaledSpec();
  spec.settings = Settings{.use_default_config = true};
  double seen = 0;
  spec.body = nullptr;
  spec.body_of_arguments = [&seen](ir::Trace& trace, absl::Span<const Argument> arguments) {
    seen = arguments[2].number();
    return AddScaled(trace);
  };
  const auto kernel = MakeKernel(std::move(spec));
  const auto argument = Bind(*kernel, {Vector(64), Vector(64), 3.0});
  const auto constant = Bind(*kernel, {Vector(64), Vector(64), ConstExpr(3.0)});
  EXPECT_EQ(seen, 3);
  EXPECT_NE(argument, constant);
  EXPECT_EQ(constant, Bind(*kernel, {Vector(64), Vector(64), ConstExpr(3.0)}));
  EXPECT_NE(constant, Bind(*kernel, {Vector(64), Vector(64), ConstExpr(4.0)}));
  EXPECT_EQ(seen, 4);
  EXPECT_EQ(constant, Bind(*kernel, {Vector(64), Vector(64)}, {{"scale", ConstExpr(3.0)}}));
  EXPECT_THAT(argument->ToSource().value(), HasSubstr("scalar0"));
  EXPECT_THAT(constant->ToSource().value(), testing::AllOf(testing::Not(HasSubstr("scalar0")), HasSubstr("3.0f")));
  EXPECT_TRUE(constant->Run(Arguments{Vector(64), Vector(64), ConstExpr(3.0)}).ok());
  EXPECT_EQ(constant->Run(Arguments{Vector(64), Vector(64), ConstExpr(5.0)}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(KernelTest, AConstExprHasToFitItsParameter) {
  KernelSpec spec = AddScaledSpec();
  spec.parameters.push_back({.name = "rounds", .kind = ParameterKind::kConstexpr, .default_value = Argument(1)});
  const auto kernel = MakeKernel(Counted(std::move(spec), &traces_));
  const auto message = [&](const Arguments& arguments) {
    return std::string(kernel->Bind(arguments).status().message());
  };
  EXPECT_THAT(message({Vector(64), ConstExpr(1)}), HasSubstr("parameter 'y' takes a tensor, not ConstExpr of int"));
  EXPECT_THAT(message({Vector(64), Vector(64), ConstExpr("a")}), HasSubstr("takes a number, not ConstExpr of str"));
  EXPECT_EQ(Bind(*kernel, {Vector(64), Vector(64), 1.0, 2}), Bind(*kernel, {Vector(64), Vector(64), 1.0, ConstExpr(2)}))
      << "a parameter that is always constant has the same key";
  EXPECT_EQ(traces_, 1);
}

TEST_F(KernelTest, ScalarsAndConstExprsGiveTheSameDTypes) {
  KernelSpec spec = AddScaledSpec();
  spec.body = [](ir::Trace& trace) {
    const ir::TensorRef x = trace.Tensor("x");
    const ir::AxisRef m = trace.Tile(trace.SizeOf(x, 0));
    const ir::Value scaled = trace.Load(x, {m}) * trace.Scalar("scale");
    EXPECT_EQ(scaled.dtype(), device::DType::kF16) << "a number does not widen a tensor";
    trace.Store(trace.OutputLike("out", x), {m}, scaled);
    return absl::OkStatus();
  };
  const auto kernel = MakeKernel(std::move(spec));
  const Tensor x = TensorOn(device_, {64}, device::DType::kF16);
  Bind(*kernel, {x, x, 0.5});
  Bind(*kernel, {x, x, ConstExpr(0.5)});
}

TEST_F(KernelTest, ResetForgets) {
  const auto kernel = MakeKernel(Counted(AddScaledSpec(), &traces_));
  const auto bound = Bind(*kernel, {Vector(64), Vector(64)});
  kernel->Reset();
  EXPECT_NE(Bind(*kernel, {Vector(64), Vector(64)}), bound);
  EXPECT_EQ(traces_, 2);
  EXPECT_TRUE(bound->ToSource(bound->config_space().Default()).ok()) << "a held BoundKernel must continue to work";
}

TEST_F(KernelTest, AMistakeInTheTracedFunctionIsTheErrorOfEachBinding) {
  KernelSpec spec = AddScaledSpec();
  spec.body = [](ir::Trace&) { return absl::UnimplementedError("no such thing"); };
  const auto kernel = MakeKernel(Counted(std::move(spec), &traces_));
  EXPECT_EQ(kernel->Bind({Vector(64), Vector(64)}).status().message(), "no such thing");
  EXPECT_EQ(kernel->Bind({Vector(64), Vector(64)}).status().message(), "no such thing");
  EXPECT_EQ(traces_, 2);
}

TEST_F(KernelTest, ThreadsThatBindTheSameGetTheSame) {
  constexpr int kThreads = 8;
  constexpr int kShapes = 4;
  const auto kernel = MakeKernel(Counted(AddScaledSpec(), &traces_));
  std::vector<std::vector<std::shared_ptr<BoundKernel>>> bound(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      for (int shape = 0; shape < kShapes; ++shape) {
        bound[i].push_back(Bind(*kernel, {Vector(64 + shape), Vector(64 + shape)}));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& of_thread : bound) EXPECT_EQ(of_thread, bound[0]);
  EXPECT_EQ(std::set(bound[0].begin(), bound[0].end()).size(), kShapes);
  EXPECT_EQ(traces_, kShapes);
}

}  // namespace
}  // namespace telemetry::worker::runtime
