#include "worker/runtime/bound_kernel.h"

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "spdlog/spdlog.h"
#include "tests/worker/runtime/fake_device.h"
#include "tests/worker/runtime/test_kernels.h"

namespace telemetry::worker::runtime {
namespace {

using device::DType;
using device::LaunchArgument;
using ::testing::HasSubstr;

std::string Message(const absl::Status& status) {
  EXPECT_FALSE(status.ok());
  return std::string(status.message());
}

class BoundKernelTest : public ::testing::Test {
 protected:
  Tensor Vector(int64_t size) { return TensorOn(device_, {size}); }
  std::shared_ptr<BoundKernel> Bound(KernelSpec spec, int64_t size = 512) {
    kernel_ = MakeKernel(std::move(spec));
    arguments_ = {Vector(size), Vector(size), 2.0};
    return *kernel_->Bind(arguments_);
  }
  static KernelSpec Dynamic() {
    KernelSpec spec = AddScaledSpec();
    spec.settings = Settings{.static_shapes = false, .use_default_config = true};
    return spec;
  }
  static KernelSpec WithDefault() {
    KernelSpec spec = AddScaledSpec();
    spec.settings = Settings{.use_default_config = true};
    return spec;
  }

  std::shared_ptr<FakeDevice> device_ = std::make_shared<FakeDevice>();
  std::unique_ptr<Kernel> kernel_;
  Arguments arguments_;
  const codegen::Config narrow_ = Config("Config(block_sizes=[64])");
  const codegen::Config wide_ = Config("Config(block_sizes=[256])");
};

TEST_F(BoundKernelTest, AConfigIsCompiledOnce) {
  const auto bound = Bound(AddScaledSpec());
  const auto first = *bound->CompileConfig(narrow_);
  EXPECT_EQ(*bound->CompileConfig(narrow_), first);
  EXPECT_EQ(*bound->CompileConfig(*bound->config_space().Normalize(narrow_)), first) << "defaults written out";
  EXPECT_EQ(device_->compile_count(), 1);
  EXPECT_EQ(first->generated().source, *bound->ToSource(narrow_));
}

TEST_F(BoundKernelTest, ThreadsThatCompileOneConfigCompileItOnce) {
  const auto bound = Bound(AddScaledSpec());
  spdlog::default_logger();  // created here, because the thread sanitizer does not recognise the library's guard of the
                             // first use
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] { EXPECT_TRUE(bound->CompileConfig(i % 2 == 0 ? narrow_ : wide_).ok()); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(device_->compile_count(), 2);
}

TEST_F(BoundKernelTest, AConfigOutsideTheSpaceIsRefused) {
  const auto bound = Bound(AddScaledSpec());
  EXPECT_THAT(Message(bound->SetConfig(Config("Config(block_sizes=[48])"))), HasSubstr("block_sizes"));
  EXPECT_THAT(Message(bound->ToSource(Config("Config(num_ctas=2)")).status()), HasSubstr("num_ctas"));
  EXPECT_FALSE(bound->config().has_value());
}

TEST_F(BoundKernelTest, TheImplicitConfig) {
  const auto none = Bound(AddScaledSpec());
  EXPECT_THAT(Message(none->ImplicitConfig().status()), HasSubstr("'add_scaled' needs a config and has none"));
  ASSERT_TRUE(none->SetConfig(wide_).ok());
  EXPECT_EQ(*none->ImplicitConfig(), *none->config_space().Normalize(wide_));

  KernelSpec one = AddScaledSpec();
  one.config = narrow_;
  EXPECT_EQ(*Bound(one)->ImplicitConfig(), narrow_);

  KernelSpec several = WithDefault();
  several.configs = {narrow_, wide_};
  EXPECT_THAT(Message(Bound(several)->ImplicitConfig().status()), HasSubstr("has 2 to choose from"));

  const auto by_default = Bound(WithDefault());
  EXPECT_EQ(*by_default->ImplicitConfig(), by_default->config_space().Default());
}

TEST_F(BoundKernelTest, ACallRunsTheSetConfig) {
  const auto bound = Bound(WithDefault());
  ASSERT_TRUE(bound->SetConfig(wide_).ok());
  const std::vector<Tensor> outputs = *bound->Run(arguments_);
  ASSERT_EQ(outputs.size(), 1);
  EXPECT_EQ(outputs[0].sizes, Dimensions({512}));
  ASSERT_EQ(device_->launches().size(), 1);
  EXPECT_EQ(device_->launches()[0].source, *bound->ToSource(wide_));
}

TEST_F(BoundKernelTest, TheLaunchHasEveryParameterOfTheCode) {
  const auto bound = Bound(WithDefault());
  const std::vector<Tensor> outputs = *bound->AllocateOutputs(arguments_);
  ASSERT_TRUE(bound->RunInto(arguments_, outputs).ok());
  const auto compiled = *bound->CompileConfig(*bound->config());
  const FakeDevice::LaunchRecord launch = device_->launches().at(0);
  EXPECT_EQ(launch.shape.threads, compiled->generated().threads);
  ASSERT_EQ(launch.arguments.size(), compiled->generated().parameters.size());
  for (size_t i = 0; i < launch.arguments.size(); ++i) {
    const codegen::Parameter& parameter = compiled->generated().parameters[i];
    if (parameter.kind == codegen::Parameter::Kind::kScalar) {
      EXPECT_EQ(launch.arguments[i], LaunchArgument(2.0F));
    } else {
      const Tensor& tensor = parameter.index == 2 ? outputs[0] : *arguments_[parameter.index].As<Tensor>();
      EXPECT_EQ(launch.arguments[i], LaunchArgument(static_cast<const device::Buffer*>(tensor.buffer.get())));
    }
  }
}

TEST_F(BoundKernelTest, SizesThatAreNotStaticAreArguments) {
  const auto bound = Bound(Dynamic());
  ASSERT_TRUE(bound->SetConfig(narrow_).ok());
  ASSERT_TRUE(bound->Run(arguments_).ok());
  ASSERT_TRUE(bound->Run(Arguments{Vector(1000), Vector(1000), 2.0}).ok());
  const auto launches = device_->launches();
  EXPECT_EQ(launches[0].shape.grid, 8);
  EXPECT_EQ(launches[1].shape.grid, 16);
  EXPECT_THAT(launches[1].arguments, ::testing::Contains(LaunchArgument(int64_t{1000})));
  EXPECT_EQ(device_->compile_count(), 1);
}

TEST_F(BoundKernelTest, ArgumentsThatTheCodeIsNotForAreRefused) {
  const auto bound = Bound(WithDefault());
  const Tensor y = Vector(512);
  const auto refusal = [&](const Arguments& arguments) { return Message(bound->Run(arguments).status()); };
  EXPECT_THAT(refusal({Vector(513), y, 2.0}), HasSubstr("'x' is Tensor(f32, [513]"));
  EXPECT_THAT(refusal({TensorOn(device_, {512}, DType::kF16), y, 2.0}), HasSubstr("'x' is Tensor(f16"));
  EXPECT_THAT(refusal({StridedOn(device_, {512}, {2}), y, 2.0}), HasSubstr("strides [2]"));
  EXPECT_THAT(refusal({y, y, 2}), HasSubstr("'scale' is now a number of another type"));
  EXPECT_THAT(refusal({y, y}), HasSubstr("takes 3 arguments, not 2"));
  const auto other = std::make_shared<FakeDevice>(FakeDevice::Behaviour{.ordinal = 1});
  EXPECT_THAT(refusal({TensorOn(other, {512}), y, 2.0}), HasSubstr("only for arguments with opencl:0"));
  EXPECT_TRUE(device_->launches().empty());
}

TEST_F(BoundKernelTest, NothingIsReadBeyondATensor) {
  const auto bound = Bound(Dynamic());
  const Arguments shorter = {Vector(64), Vector(63), 2.0};
  EXPECT_THAT(Message(bound->Run(shorter).status()), HasSubstr("'y' has 63 elements along dimension 0, where 64"));
  EXPECT_THAT(Message(kernel_->Run(shorter).status()), HasSubstr("'y' has 63 elements"));
  Tensor lying = Vector(64);
  lying.sizes = {128};
  EXPECT_THAT(Message(bound->Run(Arguments{lying, Vector(128), 2.0}).status()), HasSubstr("needs 128 elements"));
  EXPECT_THAT(Message(MakeKernel(WithDefault())->Bind({lying, Vector(128)}).status()), HasSubstr("needs 128 elements"));
  EXPECT_TRUE(device_->launches().empty());
}

TEST_F(BoundKernelTest, OutputsThatDoNotFitAreRefused) {
  const auto bound = Bound(WithDefault());
  EXPECT_THAT(Message(bound->RunInto(arguments_, {})), HasSubstr("has 1 output, but 0 are given"));
  for (const Tensor& output : {Vector(511), TensorOn(device_, {512}, DType::kF16), StridedOn(device_, {512}, {2})}) {
    EXPECT_THAT(Message(bound->RunInto(arguments_, {output})), HasSubstr("output 'out' does not fit"));
  }
}

TEST_F(BoundKernelTest, AnIntThatNeedsMoreBitsGetsCodeOfItsOwn) {
  kernel_ = MakeKernel(WithDefault());
  ASSERT_TRUE(kernel_->Run({Vector(64), Vector(64), 3}).ok());
  const auto narrow = kernel_->Bind({Vector(64), Vector(64), 3});
  const auto wide = kernel_->Bind({Vector(64), Vector(64), int64_t{1} << 31});
  ASSERT_TRUE(narrow.ok() && wide.ok());
  EXPECT_THAT((*narrow)->ToSource().value(), HasSubstr("const int scalar0"));
  EXPECT_THAT((*wide)->ToSource().value(), HasSubstr("const i64 scalar0"));
  EXPECT_EQ((*wide)->Run({Vector(64), Vector(64), 3}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE((*wide)->Run({Vector(64), Vector(64), -(int64_t{1} << 40)}).ok());
}

// Records the calls that it is given.
class RecordingWriter : public ReproWriter {
 public:
  absl::Status Write(const BoundKernel& kernel, const codegen::Config& config, absl::Span<const Argument> arguments,
                     const std::string& reason) override {
    calls.push_back(kernel.name() + " " + config.ToString() + " " + arguments.back().TypeName() + ": " + reason);
    return result;
  }
  std::vector<std::string> calls;
  absl::Status result;
};

TEST_F(BoundKernelTest, PrintReproWritesTheProgramOfACallThatFails) {
  const auto writer = std::make_shared<RecordingWriter>();
  absl::Status compiled = absl::InvalidArgumentError("ptxas: out of registers");
  device_ =
      std::make_shared<FakeDevice>(FakeDevice::Behaviour{.compile = [&](const std::string&) { return compiled; }});
  KernelSpec spec = AddScaledSpec();
  spec.config = narrow_;
  spec.settings = Settings{.print_repro = true};
  spec.repro_writer = writer;
  const auto bound = Bound(std::move(spec));
  EXPECT_THAT(Message(bound->Run(arguments_).status()), HasSubstr("out of registers"));
  EXPECT_THAT(writer->calls, testing::ElementsAre(testing::AllOf(
                                 HasSubstr("add_scaled"), HasSubstr("block_sizes=[64]"), HasSubstr("float: "),
                                 HasSubstr("INVALID_ARGUMENT: ptxas: out of registers"))));
  EXPECT_THAT(Message(bound->RunInto(arguments_, {Vector(512)})), HasSubstr("out of registers"));
  EXPECT_THAT(writer->calls, testing::SizeIs(2));
  writer->result = absl::UnavailableError("the disk is full");
  EXPECT_THAT(Message(bound->Run(arguments_).status()), HasSubstr("out of registers")) << "the call's own error";
}

TEST_F(BoundKernelTest, ReprosOfCallsThatSucceedAreWrittenOnRequest) {
  const auto writer = std::make_shared<RecordingWriter>();
  KernelSpec spec = WithDefault();
  spec.repro_writer = writer;
  const auto bound = Bound(std::move(spec));
  ASSERT_TRUE(bound->Run(arguments_).ok());
  EXPECT_THAT(writer->calls, testing::IsEmpty());
  EXPECT_TRUE(bound->WriteRepro(arguments_, "slow").ok());
  EXPECT_THAT(writer->calls, testing::ElementsAre(HasSubstr(": slow")));
  EXPECT_THAT(Message(Bound(WithDefault())->WriteRepro(arguments_, "slow")), HasSubstr("has no writer of programs"));
}

TEST_F(BoundKernelTest, DebugStringSaysWhatItIs) {
  const auto bound = Bound(AddScaledSpec());
  EXPECT_THAT(bound->DebugString(), HasSubstr("kernel add_scaled"));
  EXPECT_THAT(bound->DebugString(), HasSubstr("config: not set"));
  EXPECT_THAT(bound->DebugString(), HasSubstr("tensor(f32,opencl,[512],[1])"));
}

TEST_F(BoundKernelTest, TheCodeIsPrintedOnlyWhenAskedFor) {
  const auto printed = [&](bool print) {
    KernelSpec spec = AddScaledSpec();
    spec.settings = Settings{.print_output_code = print};
    const auto bound = Bound(spec);
    ::testing::internal::CaptureStderr();
    EXPECT_TRUE(bound->SetConfig(narrow_).ok());
    const std::string text = ::testing::internal::GetCapturedStderr();
    return text.find(*bound->ToSource(narrow_)) != std::string::npos;
  };
  EXPECT_TRUE(printed(true));
  EXPECT_FALSE(printed(false));
}

TEST_F(BoundKernelTest, ReferenceModeNeedsNoDevice) {
  KernelSpec spec = AddScaledSpec();
  spec.settings = Settings{.reference_mode = true};
  const auto kernel = MakeKernel(spec);
  ir::HostArray x = ir::HostArray::Dense(DType::kF32, {3});
  x.SetRowMajor(std::vector<double>{1, 2, 3});
  const std::vector<Tensor> outputs = *kernel->Run({Tensor::OnHost(x), Tensor::OnHost(x), 0.5});
  EXPECT_THAT(outputs.at(0).host->RowMajor(), ::testing::ElementsAre(1.5, 3, 4.5));
  const auto bound = *kernel->Bind({Tensor::OnHost(x), Tensor::OnHost(x), 0.5});
  EXPECT_THAT(Message(bound->ToSource(narrow_).status()), HasSubstr("reference mode"));
}

TEST_F(BoundKernelTest, WithoutReferenceModeTheHostsTensorsAreRefused) {
  const Tensor x = Tensor::OnHost(ir::HostArray::Dense(DType::kF32, {3}));
  EXPECT_THAT(Message(MakeKernel(WithDefault())->Bind({x, x}).status()), HasSubstr("no device in the arguments"));
  EXPECT_THAT(Message(MakeKernel(WithDefault())->Bind({x, Vector(3)}).status()), HasSubstr("copy it there"));
}

}  // namespace
}  // namespace telemetry::worker::runtime
