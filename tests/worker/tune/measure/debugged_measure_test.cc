// Tests that the values of the checked launch are printed or saved.

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>

#include "gmock/gmock.h"
#include "tests/client/small_disk.h"
#include "tests/worker/tune/measure/measure_fixture.h"

namespace telemetry::worker::tune::measure {
namespace {

using debug::DebugLevel;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

class DebuggedMeasureTest : public MeasureTest {
 protected:
  DebuggedMeasureTest() {
    std::string name = testing::TempDir() + "/debugged_measure_test.XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~DebuggedMeasureTest() override { std::filesystem::remove_all(folder_); }
  void SetUp() override {}

  void StartDebugged(DebugLevel level, const std::vector<std::string>& kernels = {}, int data_sets = 1) {
    Start(DoublingProblem(data_sets), {.debug = {.level = level, .kernels = kernels, .folder = folder_},
                                       .on_debug = [this](std::string_view text) { printed_.emplace_back(text); }});
  }
  MeasureRequest Named(const std::string& body) {
    MeasureRequest request = RequestFor(body);
    request.kernel = "doubled";
    request.label = "Config(this=1)";
    return request;
  }
  // Returns the first words of each line, such as "[before_launch - doubled - x]".
  std::vector<std::string> Heads() const {
    std::vector<std::string> heads;
    for (const std::string& line : printed_) heads.push_back(line.substr(0, line.find(']') + 1));
    return heads;
  }
  std::vector<std::string> Files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }

  std::string folder_;
  std::vector<std::string> printed_;
};

TEST_F(DebuggedMeasureTest, PrintsTheLaunchThatIsCheckedAndNoOther) {
  StartDebugged(DebugLevel::kPrint, {"DOUBLED"});
  const wire::Outcome outcome = Measure(Named(kRight));
  ASSERT_TRUE(outcome.has_perf_ms()) << outcome.failure().message();
  EXPECT_GE(outcome.samples_ms_size(), 3);
  EXPECT_THAT(Heads(), ElementsAre("[program_inputs - doubled - x]", "[config]", "[before_launch - doubled - x]",
                                   "[before_launch - doubled - out]", "[after_launch - doubled - x]",
                                   "[after_launch - doubled - out]"));
  EXPECT_EQ(printed_[1], "[config] Config(this=1)");
  EXPECT_THAT(printed_[2], EndsWith("elements=1000 sizes=[1000] strides=[1] dtype=f32 mean=500.5 min=1 max=1000 "
                                    "std=288.67499 nan=0 inf=0"));
  EXPECT_THAT(printed_[3], HasSubstr("] (output) elements=1000 sizes=[100, 10] strides=[10, 1] dtype=f32 mean=none"));
  EXPECT_THAT(printed_[5], HasSubstr("mean=1001 min=2 max=2000"));
}

TEST_F(DebuggedMeasureTest, InputsArePrintedForEachDataSet) {
  StartDebugged(DebugLevel::kPrint, {}, /*data_sets=*/2);
  Measure(Named(kRight));
  Measure(Named(kRight));
  ASSERT_TRUE(measurer_->MeasureInterleaved({{Named(kRight)}}, {.rounds = 3}).ok());
  EXPECT_EQ(printed_.size(), 3 * 5 + 2u);
  EXPECT_THAT(printed_[11], AllOf(StartsWith("[program_inputs - doubled - x]"), HasSubstr("max=250.75")));
}

TEST_F(DebuggedMeasureTest, OfOtherKernelsNothing) {
  StartDebugged(DebugLevel::kPrint, {"softmax"});
  EXPECT_TRUE(Measure(Named(kRight)).has_perf_ms());
  EXPECT_THAT(printed_, IsEmpty());
}

TEST_F(DebuggedMeasureTest, PrintsNamesOnly) {
  StartDebugged(DebugLevel::kNames);
  EXPECT_TRUE(Measure(Named(kRight)).has_perf_ms());
  EXPECT_THAT(printed_, ElementsAre("[before_launch - doubled]", "[after_launch - doubled]"));
}

TEST_F(DebuggedMeasureTest, SavesAndNeverOverwrites) {
  for (int process = 0; process < 2; ++process) {
    StartDebugged(DebugLevel::kSave);
    EXPECT_TRUE(Measure(Named(kRight)).has_perf_ms());
  }
  EXPECT_THAT(Files(), ElementsAre("after_launch_doubled_out.2.npy", "after_launch_doubled_out.npy",
                                   "after_launch_doubled_x.2.npy", "after_launch_doubled_x.npy",
                                   "before_launch_doubled_out.2.npy", "before_launch_doubled_out.npy",
                                   "before_launch_doubled_x.2.npy", "before_launch_doubled_x.npy"));
  EXPECT_THAT(printed_, ElementsAre("[config] launch 1 of doubled: Config(this=1)",
                                    "[config] launch 2 of doubled: Config(this=1)"));
}

TEST_F(DebuggedMeasureTest, NumbersByTheirValue) {
  StartDebugged(DebugLevel::kPrint);
  MeasureRequest request = RequestFor(
      "out[i] = (float)n * scale * x[i] + (float)(causal - 1);",
      IsCuda() ? ", float scale, int causal, int n, long long size" : ", float scale, int causal, int n, long size");
  request.kernel = "doubled";
  for (const RequestArgument& number : std::vector<RequestArgument>{0.5f, int32_t{1}, int32_t{4}, int64_t{1000}}) {
    request.arguments.push_back(number);
  }
  request.argument_labels = {{.name = "x"},     {.name = "out"},
                             {.name = "scale"}, {.name = "causal", .is_flag = true},
                             {.name = "n"},     {.name = "x.size(0)", .is_size = true}};
  const wire::Outcome outcome = Measure(request);
  ASSERT_TRUE(outcome.has_perf_ms()) << outcome.failure().message();
  for (const char* line :
       {"[before_launch - doubled - scale] 0.5 (float)", "[before_launch - doubled - causal] true (bool)",
        "[before_launch - doubled - n] 4 (integer)", "[before_launch - doubled - x.size(0)] 1000 (symbolic size)"}) {
    EXPECT_THAT(printed_, Contains(line));
  }
}

// Computes 0 / 0 for one element: the result has a NaN although x has none.
constexpr char kMakesANaN[] = "out[i] = i == 7 ? (x[i] - x[i]) / (x[i] - x[i]) : 2.0f * x[i];";

TEST_F(DebuggedMeasureTest, AFailureNamesTheFirstNaN) {
  for (const DebugLevel level : {DebugLevel::kSave, DebugLevel::kPrint}) {
    StartDebugged(level);
    const wire::Failure failure = ExpectFailure(Named(kMakesANaN));
    EXPECT_EQ(failure.error_class(), "WrongResult");
    EXPECT_THAT(failure.message(),
                EndsWith("; the first tensor with a NaN is 'out' (1 of 1000 elements), made by kernel "
                         "'doubled'"));
    EXPECT_THAT(printed_, Contains(StartsWith("[first_nan] the first tensor with a NaN is 'out'")));
    // The next failure contains no NaN of this config.
    EXPECT_THAT(ExpectFailure(Named("out[i] = 1.0f;")).message(), Not(HasSubstr("NaN")));
  }
}

TEST_F(DebuggedMeasureTest, AFailureNamesAnInputWithANaN) {
  MeasureProblem problem = DoublingProblem();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::memcpy(problem.data_sets[0].buffers[0].initial.data(), &nan, sizeof(nan));
  Start(problem, {.debug = {.level = DebugLevel::kSave, .folder = folder_}, .on_debug = [](std::string_view) {}});
  EXPECT_THAT(ExpectFailure(Named(kRight)).message(),
              EndsWith("the first tensor with a NaN is 'x' (1 of 1000 elements), an input of the program"));
}

TEST_F(DebuggedMeasureTest, Level0SaysNothingOfIt) {
  Start(DoublingProblem());
  EXPECT_THAT(ExpectFailure(Named(kMakesANaN)).message(), Not(HasSubstr("first tensor")));
  EXPECT_THAT(Files(), IsEmpty());
}

TEST_F(DebuggedMeasureTest, AFullDiskIsAnErrorAndMeasuringGoesOn) {
  const client::SmallDisk disk(folder_, 1 << 20);
  if (!disk.mounted()) GTEST_SKIP() << "this user may not mount anything";
  disk.Fill();
  StartDebugged(DebugLevel::kSave);
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(Measure(Named(kRight)).has_perf_ms());
  EXPECT_EQ(std::count_if(printed_.begin(), printed_.end(), [](auto& line) { return line.starts_with("[error]"); }), 1);
  EXPECT_THAT(printed_, Contains(AllOf(StartsWith("[error] cannot save values: cannot write "),
                                       HasSubstr("No space left on device"))));
}

}  // namespace
}  // namespace telemetry::worker::tune::measure
