#include "worker/debug/value_debugger.h"

#include <cmath>
#include <fstream>
#include <limits>

#include "gmock/gmock.h"
#include "tests/worker/debug/debug_fixture.h"

namespace telemetry::worker::debug {
namespace {

using device::DType;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

// A test fixture that reports launches to a debugger without running any; the test gives the values.
class ValueDebuggerTest : public DebugTest {
 protected:
  void Start(DebugOptions options) {
    options.folder = folder_;
    debugger_ = ValueDebugger::Create(std::move(options), Print());
  }
  void Begin(const std::vector<DebugValue>& inputs) {
    debugger_->BeginProgram("program", [&] { return absl::StatusOr<std::vector<DebugValue>>(inputs); });
  }
  void Launch(const std::string& kernel, const std::vector<DebugValue>& before, const std::vector<DebugValue>& after) {
    debugger_->BeforeLaunch(kernel, [&] { return absl::StatusOr<std::vector<DebugValue>>(before); });
    std::vector<std::string> written;
    for (const DebugValue& value : after) {
      if (value.is_output) written.push_back(value.memory_name());
    }
    debugger_->AfterLaunch(kernel, written, [&] { return absl::StatusOr<std::vector<DebugValue>>(after); });
  }

  DebugValue Value(const std::string& name, const std::vector<double>& elements) {
    return {.name = name,
            .value = OnDevice(Array(DType::kF32, {static_cast<int64_t>(elements.size())}, elements)),
            .buffer = name};
  }
  DebugValue Output(const std::string& name, const std::vector<double>& elements) {
    DebugValue value = Value(name, elements);
    value.is_output = true;
    return value;
  }

  std::unique_ptr<ValueDebugger> debugger_;
};

TEST_F(ValueDebuggerTest, Level0IsNull) {
  EXPECT_EQ(ValueDebugger::Create({}), nullptr);
  EXPECT_EQ(ValueDebugger::FromEnvironment()->get(), nullptr);
}

TEST_F(ValueDebuggerTest, Level1SavesEveryTensorBeforeAndAfter) {
  Start({.level = DebugLevel::kSave});
  Begin({Value("x", {1})});
  Launch("exp", {Value("x", {1}), {.name = "n", .value = int64_t{3}}, Output("out", {0})},
         {Value("x", {1}), Output("out", {2})});
  EXPECT_THAT(Files(), ElementsAre("after_launch_exp_out.npy", "after_launch_exp_x.npy", "before_launch_exp_out.npy",
                                   "before_launch_exp_x.npy"));
  EXPECT_THAT(printed_, IsEmpty());
}

TEST_F(ValueDebuggerTest, Level2PrintsInputsThenEveryArgument) {
  Start({.level = DebugLevel::kPrint});
  Begin({Value("x", {1, 4})});
  Launch("exp", {Value("x", {1, 4}), Output("out", {0, 0})}, {Value("x", {1, 4}), Output("out", {2, kNotANumber})});
  EXPECT_EQ(printed(),
            "[program_inputs - program - x] elements=2 sizes=[2] strides=[1] dtype=f32 mean=2.5 min=1 max=4 std=1.5 "
            "nan=0 inf=0 values=[1, 4]\n"
            "[before_launch - exp - x] elements=2 sizes=[2] strides=[1] dtype=f32 mean=2.5 min=1 max=4 std=1.5 nan=0 "
            "inf=0 values=[1, 4]\n"
            "[before_launch - exp - out] (output) elements=2 sizes=[2] strides=[1] dtype=f32 mean=0 min=0 max=0 std=0 "
            "nan=0 inf=0 values=[0, 0]\n"
            "[after_launch - exp - x] elements=2 sizes=[2] strides=[1] dtype=f32 mean=2.5 min=1 max=4 std=1.5 nan=0 "
            "inf=0 values=[1, 4]\n"
            "[after_launch - exp - out] elements=2 sizes=[2] strides=[1] dtype=f32 mean=2 min=2 max=2 std=0 nan=1 "
            "inf=0 (mean, min, max, std of the finite elements) values=[2, nan]\n"
            "[first_nan] the first tensor with a NaN is 'out' (1 of 2 elements), made by kernel 'exp'");
  EXPECT_THAT(Files(), IsEmpty());
}

TEST_F(ValueDebuggerTest, Level3PrintsNamesOnlyAndAllOfThem) {
  Start({.level = DebugLevel::kNames, .kernels = {"softmax"}});
  Begin({Value("x", {kNotANumber})});
  Launch("exp", {Value("x", {kNotANumber})}, {Value("x", {kNotANumber})});
  EXPECT_THAT(printed_, ElementsAre("[before_launch - exp]", "[after_launch - exp]"));
  EXPECT_THAT(Files(), IsEmpty());
}

TEST_F(ValueDebuggerTest, NamesNarrowWithoutRegardToCase) {
  for (const DebugLevel level : {DebugLevel::kSave, DebugLevel::kPrint}) {
    Start({.level = level, .kernels = {"SoftMax", "ADD"}});
    Launch("exp", {Value("x", {1})}, {});
    Launch("softmax", {Value("x", {1})}, {});
    Launch("softmax_1", {Value("x", {1})}, {});
    Launch("Add", {Value("x", {1})}, {});
  }
  EXPECT_THAT(Files(), ElementsAre("before_launch_Add_x.npy", "before_launch_softmax_x.npy"));
  EXPECT_THAT(printed_, ElementsAre(HasSubstr("before_launch - softmax - x"), HasSubstr("before_launch - Add - x")));
}

TEST_F(ValueDebuggerTest, OtherArgumentsByTheirValue) {
  Start({.level = DebugLevel::kPrint});
  Launch("k",
         {{.name = "n", .value = int64_t{-3}},
          {.name = "eps", .value = 1e-6},
          {.name = "causal", .value = true},
          {.name = "x.size(0)", .value = SymbolicSize{4096}}},
         {});
  EXPECT_THAT(printed_, ElementsAre("[before_launch - k - n] -3 (integer)", "[before_launch - k - eps] 1e-06 (float)",
                                    "[before_launch - k - causal] true (bool)",
                                    "[before_launch - k - x.size(0)] 4096 (symbolic size)"));
}

TEST_F(ValueDebuggerTest, ValuesOfAtMost64Elements) {
  Start({.level = DebugLevel::kPrint});
  Launch("k", {Value("x", std::vector<double>(64, 1)), Value("y", std::vector<double>(65, 1))}, {});
  ASSERT_EQ(printed_.size(), 2u);
  EXPECT_THAT(printed_[0], HasSubstr("values=[1, 1, "));
  EXPECT_THAT(printed_[1], Not(HasSubstr("values")));
}

TEST_F(ValueDebuggerTest, EveryDTypeAndLayout) {
  Start({.level = DebugLevel::kPrint});
  std::vector<DebugValue> values;
  const auto add = [&](const ir::HostArray& array) { values.push_back({.name = "x", .value = OnDevice(array)}); };
  add(Array(DType::kF16, {2, 2}, {0.1, 2, 3, 65504}, {1, 2}));
  add(Array(DType::kBF16, {1}, {0.1}));
  add(Array(DType::kBool, {3}, {1, 0, 1}));
  add(Array(DType::kI32, {2}, {-7, 8}));
  add(Array(DType::kF32, {}, {3}));
  add(Array(DType::kF32, {2, 0}, {}));
  Launch("k", values, {});
  ASSERT_EQ(printed_.size(), 6u);
  EXPECT_THAT(printed_[0], HasSubstr("elements=4 sizes=[2, 2] strides=[1, 2] dtype=f16"));
  EXPECT_THAT(printed_[0], HasSubstr("values=[0.0999755859, 2, 3, 65504]"));
  EXPECT_THAT(printed_[1], HasSubstr("dtype=bf16 mean=0.100097656"));
  EXPECT_THAT(printed_[2], HasSubstr("dtype=bool mean=0.666666667 min=0 max=1"));
  EXPECT_THAT(printed_[2], HasSubstr("values=[true, false, true]"));
  EXPECT_THAT(printed_[3], HasSubstr("dtype=i32 mean=0.5 min=-7 max=8 std=7.5 nan=0 inf=0 values=[-7, 8]"));
  EXPECT_THAT(printed_[4], HasSubstr("elements=1 sizes=[] strides=[] dtype=f32 mean=3"));
  EXPECT_THAT(printed_[5], HasSubstr("elements=0 sizes=[2, 0] strides=[1, 1] dtype=f32 mean=none min=none max=none "
                                     "std=none nan=0 inf=0 values=[]"));
}

TEST_F(ValueDebuggerTest, TensorsOfTheHost) {
  Start({.level = DebugLevel::kPrint});
  Launch("k", {{.name = "x", .value = runtime::Tensor::OnHost(Array(DType::kF32, {2}, {1, 3}, {5}))}}, {});
  EXPECT_THAT(printed_, ElementsAre("[before_launch - k - x] elements=2 sizes=[2] strides=[5] dtype=f32 mean=2 min=1 "
                                    "max=3 std=1 nan=0 inf=0 values=[1, 3]"));
}

TEST_F(ValueDebuggerTest, TheFirstNaNIsAnInput) {
  Start({.level = DebugLevel::kSave});
  Begin({Value("x", {kNotANumber})});
  Launch("exp", {Value("x", {kNotANumber}), Output("out", {kNotANumber})},
         {Value("x", {kNotANumber}), Output("out", {kNotANumber})});
  ASSERT_TRUE(debugger_->first_nan().has_value());
  EXPECT_EQ(debugger_->first_nan()->ToString(),
            "the first tensor with a NaN is 'x' (1 of 1 elements), an input of the program");
  EXPECT_EQ(printed_.size(), 1u);
}

TEST_F(ValueDebuggerTest, TheFirstNaNNamesAKernelThatWasNotLookedAt) {
  Start({.level = DebugLevel::kSave, .kernels = {"softmax"}});
  Begin({});
  DebugValue made = Output("out", {kNotANumber, 1});
  made.buffer = "made";
  Launch("log", {made}, {made});
  DebugValue view = {.name = "x", .value = made.value, .buffer = "view", .memory = "made"};
  Launch("softmax", {view}, {view});
  ASSERT_TRUE(debugger_->first_nan().has_value());
  EXPECT_EQ(debugger_->first_nan()->ToString(),
            "the first tensor with a NaN is 'view' (1 of 2 elements), made by kernel 'log'");
}

TEST_F(ValueDebuggerTest, WhatALaunchIsStillToWriteIsNoNaN) {
  Start({.level = DebugLevel::kPrint});
  Begin({});
  Launch("exp", {Output("out", {kNotANumber})}, {Output("out", {1})});
  EXPECT_FALSE(debugger_->first_nan().has_value());
  EXPECT_THAT(printed(), Not(HasSubstr("first_nan")));
}

TEST_F(ValueDebuggerTest, EachRunHasAFirstNaN) {
  Start({.level = DebugLevel::kSave});
  for (int run = 0; run < 2; ++run) {
    Begin({});
    Launch("exp", {}, {Output("out", {kNotANumber})});
    Launch("add", {}, {Output("sum", {kNotANumber})});
    EXPECT_EQ(debugger_->first_nan()->kernel, "exp");
  }
  Begin({});
  EXPECT_FALSE(debugger_->first_nan().has_value());
}

TEST_F(ValueDebuggerTest, AnErrorIsSaidOncePerKind) {
  std::ofstream(folder_ + "/file") << "no folder";
  folder_ += "/file";
  Start({.level = DebugLevel::kSave});
  for (int i = 0; i < 3; ++i) Launch("exp", {Value("x", {1})}, {Value("x", {kNotANumber})});
  EXPECT_EQ(debugger_->errors(), 6);
  ASSERT_EQ(printed_.size(), 2u);
  EXPECT_THAT(printed_[0], HasSubstr("[error] cannot save values: cannot make the folder " + folder_));
  EXPECT_THAT(printed_[1], HasSubstr("[first_nan]"));
  folder_ = folder_.substr(0, folder_.rfind('/'));
}

TEST_F(ValueDebuggerTest, ValuesThatCannotBeMadeAreAnError) {
  Start({.level = DebugLevel::kPrint});
  debugger_->BeforeLaunch("exp", [] { return absl::StatusOr<std::vector<DebugValue>>(absl::InternalError("lost")); });
  EXPECT_THAT(printed_, ElementsAre(HasSubstr("[error] cannot look at values: lost")));
}

TEST_F(ValueDebuggerTest, WhatIsNotSupportedIsSaidOnceAndStaysOff) {
  for (const DebugLevel level : {DebugLevel::kSave, DebugLevel::kPrint, DebugLevel::kNames}) {
    printed_.clear();
    Start({.level = level});
    for (int i = 0; i < 2; ++i) {
      debugger_->StayOff("choosy");
      Launch("choosy", {Value("x", {1})}, {Value("x", {1})});
    }
    EXPECT_THAT(printed_, ElementsAre(HasSubstr("[choosy] picks among several kernels at run time")));
    EXPECT_FALSE(debugger_->WantsValues("choosy"));
  }
  EXPECT_THAT(Files(), IsEmpty());
}

}  // namespace
}  // namespace telemetry::worker::debug
