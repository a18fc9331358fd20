#include "worker/tune/measure/measurer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "absl/strings/str_cat.h"
#include "tests/worker/tune/measure/measure_fixture.h"

namespace telemetry::worker::tune::measure {
namespace {

using device::CompiledCode;
using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;

using MeasurerTest = MeasureTest;

TEST_F(MeasurerTest, TimesWhatIsRight) {
  const wire::Outcome outcome = Measure(kRight);
  ASSERT_TRUE(outcome.has_perf_ms()) << outcome.failure().message();
  EXPECT_GT(outcome.perf_ms(), 0);
  EXPECT_GE(outcome.samples_ms_size(), 3);
  EXPECT_FALSE(outcome.gave_up());
  EXPECT_EQ(outcome.check().mismatches(), 0);
  EXPECT_EQ(outcome.check().worst_absolute(), 0);
  EXPECT_GT(outcome.attributes().binary_bytes(), 0u);
  if (IsCuda()) {
    EXPECT_GT(outcome.attributes().registers(), 0);
    EXPECT_GT(outcome.attributes().blocks_per_unit(), 0);
    EXPECT_GT(outcome.attributes().occupancy(), 0);
    EXPECT_LE(outcome.attributes().occupancy(), 1);
    EXPECT_GT(outcome.sm_clock_mhz(), 300);
  }
}

TEST_F(MeasurerTest, AProcessMayOpenTheDeviceBeforeTheProblemIsKnown) {
  std::vector<std::string> steps;
  const MeasurerOptions options = {
      .device = DeviceName(),
      .on_step = [&steps](std::string_view step, std::string_view, SteadyTime begin, SteadyTime end) {
        EXPECT_LE(begin, end);
        steps.emplace_back(step);
      }};
  const std::shared_ptr<OpeningProcess> opening = OpeningProcess::Start(options);
  std::unique_ptr<MeasuringProcess> process = opening->Take();
  ASSERT_NE(process, nullptr);
  EXPECT_EQ(opening->Take(), nullptr) << "it has one problem";
  measurer_ = Measurer::Start(DoublingProblem(), options, std::move(process)).value();
  EXPECT_THAT(steps, ElementsAre("image", "child device", "child checks", "child memory", "problem"));
  ExpectThatTheNextIsMeasuredRight();
}

TEST_F(MeasurerTest, FindsTheFirstWrongResult) {
  const wire::Outcome outcome = Measure("out[i] = i == 123 ? 1.5f : i == 500 ? 0.0f : 2.0f * x[i];");
  ASSERT_TRUE(outcome.has_failure());
  EXPECT_FALSE(outcome.has_perf_ms());
  EXPECT_TRUE(outcome.samples_ms().empty()) << "a wrong config must not be timed";
  EXPECT_EQ(outcome.failure().phase(), "check");
  EXPECT_EQ(outcome.failure().error_class(), "WrongResult");
  EXPECT_EQ(outcome.check().mismatches(), 2);
  EXPECT_EQ(outcome.check().output(), "out");
  EXPECT_THAT(outcome.check().first_index(), ElementsAre(12, 3));
  EXPECT_EQ(outcome.check().expected(), 248);
  EXPECT_EQ(outcome.check().actual(), 1.5);
  EXPECT_EQ(outcome.check().worst_absolute(), 1002);
  EXPECT_THAT(outcome.failure().message(), HasSubstr("'out'[12, 3]: expected 248, got 1.5"));
  ExpectThatTheNextIsMeasuredRight();
}

TEST_F(MeasurerTest, SeesWhatIsLeftOut) {
  const wire::Outcome outcome = Measure("if (i != 7) out[i] = 2.0f * x[i];");
  ASSERT_TRUE(outcome.has_failure());
  EXPECT_EQ(outcome.failure().error_class(), "WrongResult");
  EXPECT_EQ(outcome.check().mismatches(), 1);
  EXPECT_TRUE(std::isnan(outcome.check().actual()));
  EXPECT_TRUE(std::isinf(outcome.check().worst_absolute()));
}

TEST_F(MeasurerTest, DoesNotTakeTheResultsOfTheConfigBefore) {
  ExpectThatTheNextIsMeasuredRight();
  EXPECT_EQ(ExpectFailure("if (i < 0) out[i] = 0.0f;").error_class(), "WrongResult");
}

TEST_F(MeasurerTest, SeesNaN) {
  EXPECT_EQ(ExpectFailure("out[i] = i == 999 ? sqrt(-x[i]) : 2.0f * x[i];").error_class(), "WrongResult");
}

TEST_F(MeasurerTest, SeesWhatIsWrittenBehindAnOutput) {
  const wire::Failure failure = ExpectFailure("out[i] = 2.0f * x[i]; if (i == 0) out[1000] = 3.0f;");
  EXPECT_EQ(failure.phase(), "check");
  EXPECT_EQ(failure.error_class(), "OutOfBounds");
  EXPECT_THAT(failure.message(), HasSubstr("beyond 'out': 4 bytes"));
  ExpectThatTheNextIsMeasuredRight();
}

TEST_F(MeasurerTest, SeesWhatIsWrittenInFrontOfAnOutput) {
  EXPECT_EQ(ExpectFailure("out[i] = 2.0f * x[i]; if (i == 0) out[-1] = 3.0f;").error_class(), "OutOfBounds");
  ExpectThatTheNextIsMeasuredRight();
}

TEST_F(MeasurerTest, SeesAChangedInputAndRestoresIt) {
  const wire::Failure failure = ExpectFailure("out[i] = 2.0f * x[i]; if (i == 1) x[999] = 3.0f;");
  EXPECT_EQ(failure.error_class(), "InputChanged");
  EXPECT_THAT(failure.message(), HasSubstr("'x'"));
  ExpectThatTheNextIsMeasuredRight();
}

TEST_F(MeasurerTest, ChecksAgainAfterTheLastRun) {
  // The result is right only if no launch ran before.
  const wire::Failure failure = ExpectFailure("out[i] = out[i] != out[i] ? 2.0f * x[i] : 0.0f;");
  EXPECT_EQ(failure.error_class(), "WrongResult");
}

TEST_F(MeasurerTest, ACrashCostsOneConfig) {
  const wire::Failure failure = ExpectFailure("out[(long)i + ((long)1 << 42)] = 2.0f * x[i];");
  // On a CPU the kernel may crash before its launch returns.
  EXPECT_TRUE(failure.phase() == "run" || (!IsCuda() && failure.phase() == "launch")) << failure.phase();
  EXPECT_EQ(failure.error_class(), IsCuda() ? "IllegalAddress" : "Crash");
  EXPECT_EQ(failure.code(), IsCuda() ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "SIGSEGV");
  ExpectThatTheNextIsMeasuredRight();
  ExpectFailure("out[(long)i + ((long)1 << 42)] = 2.0f * x[i];");
  ExpectFailure("out[(long)i + ((long)1 << 42)] = 2.0f * x[i];");
  ExpectThatTheNextIsMeasuredRight();
}

TEST_F(MeasurerTest, AnEndlessLoopIsEnded) {
  MeasureRequest request =
      RequestFor("volatile GLOBAL float* y = out; y[i] = x[i]; while (y[i] == x[i]) {} out[i] = 2.0f * x[i];");
  request.run_limit = absl::Milliseconds(300);
  // OpenCL compiles during the first launch.
  request.load_limit = absl::Seconds(60);
  const wire::Failure failure = ExpectFailure(request);
  EXPECT_THAT(failure.phase(), AnyOf("run", "launch"));
  EXPECT_EQ(failure.error_class(), "Hang");
  EXPECT_EQ(failure.code(), "DEADLINE_EXCEEDED");
  ExpectThatTheNextIsMeasuredRight();
}

TEST_F(MeasurerTest, TooMuchSharedMemoryIsTold) {
  MeasureRequest request = RequestFor(kRight);
  request.shape.shared_bytes = size_t{1} << 30;
  const wire::Failure failure = ExpectFailure(request);
  EXPECT_EQ(failure.phase(), "launch");
  EXPECT_THAT(failure.message(), HasSubstr("1073741824 bytes"));
  ExpectThatTheNextIsMeasuredRight();
}

TEST_F(MeasurerTest, CodeThatDoesNotLoadIsTold) {
  MeasureRequest request = RequestFor(kRight);
  request.code = std::make_shared<CompiledCode>(CompiledCode{.binary = "no code"});
  EXPECT_EQ(ExpectFailure(request).phase(), "load");
  request = RequestFor(kRight);
  request.function = "another";
  EXPECT_EQ(ExpectFailure(request).error_class(), "NotFound");
  ExpectThatTheNextIsMeasuredRight();
}

TEST_F(MeasurerTest, GivesUpOnWhatIsClearlySlower) {
  MeasureRequest request = RequestFor(kRight);
  request.effort.give_up_above_ms = 1e-9;
  const wire::Outcome outcome = Measure(request);
  EXPECT_FALSE(outcome.has_failure());
  EXPECT_FALSE(outcome.has_perf_ms());
  EXPECT_TRUE(outcome.gave_up());
  EXPECT_LE(outcome.samples_ms_size(), 3);
  request.effort.give_up_above_ms = 1e9;
  EXPECT_TRUE(Measure(request).has_perf_ms());
}

// Loading a module waits for the kernel that runs, so the time of the host says nothing about that kernel.
TEST_F(MeasurerTest, AConfigThatWasSlowIsNotSampledAlthoughTheNextOneWasLoadedMeanwhile) {
  if (!IsCuda()) GTEST_SKIP() << "in OpenCL, the first run includes compiling";
  MeasureRequest slow = RequestFor(
      "const long long begin = clock64(); while (clock64() - begin < 100000000) {} "
      "out[i] = 2.0f * x[i];");
  slow.effort.give_up_above_ms = 0.1;
  const MeasureRequest next = RequestFor("out[i] = x[i] + x[i];");
  const absl::StatusOr<wire::Outcome> outcome = measurer_->Measure(slow, &next);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_TRUE(outcome->gave_up());
  ASSERT_EQ(outcome->samples_ms_size(), 1);
  EXPECT_GT(outcome->samples_ms(0), 20);
  EXPECT_LT(outcome->steps().sample_s(), 0.01) << "it ran again";
}

TEST_F(MeasurerTest, AnExactEffortTakesAllSamplesOfASlowConfig) {
  MeasureRequest request = RequestFor(kRight);
  request.effort.give_up_above_ms = 1e-9;
  request.effort.exact = true;
  request.effort.max_samples = 5;
  for (const bool warm : {false, true}) {
    request.effort.warm = warm;
    const wire::Outcome outcome = Measure(request);
    EXPECT_TRUE(outcome.has_perf_ms());
    EXPECT_EQ(outcome.samples_ms_size(), 5);
  }
}

TEST_F(MeasurerTest, LoadsTheNextConfigWhileOneRuns) {
  const MeasureRequest right = RequestFor(kRight);
  const MeasureRequest also_right = RequestFor("out[i] = x[i] + x[i];");
  const MeasureRequest wrong = RequestFor("out[i] = 3.0f * x[i];");
  const absl::StatusOr<wire::Outcome> first = measurer_->Measure(right, &also_right);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_TRUE(first->has_perf_ms()) << first->failure().message();
  EXPECT_GT(first->steps().load_next_s(), 0);
  EXPECT_GE(first->steps().run_s(), first->steps().load_next_s());
  const wire::Outcome second = Measure(also_right);
  EXPECT_TRUE(second.has_perf_ms()) << second.failure().message();
  EXPECT_LT(second.steps().load_s(), first->steps().load_next_s());
  EXPECT_EQ(second.steps().load_next_s(), 0);
  EXPECT_EQ(second.attributes().binary_bytes(), also_right.code->binary.size());
  // Another config than expected comes next.
  ASSERT_TRUE(measurer_->Measure(right, &also_right).ok());
  EXPECT_EQ(ExpectFailure(wrong).error_class(), "WrongResult");
  ASSERT_TRUE(measurer_->Measure(right, &wrong).ok());
  EXPECT_TRUE(Measure(also_right).has_perf_ms());
}

TEST_F(MeasurerTest, ANextConfigThatDoesNotLoadHarmsOnlyItself) {
  MeasureRequest broken = RequestFor(kRight);
  broken.code = std::make_shared<const CompiledCode>(CompiledCode{.binary = "this is not code"});
  const absl::StatusOr<wire::Outcome> first = measurer_->Measure(RequestFor(kRight), &broken);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_TRUE(first->has_perf_ms()) << first->failure().message();
  EXPECT_EQ(ExpectFailure(broken).phase(), "load");
  ExpectThatTheNextIsMeasuredRight();
}

TEST_F(MeasurerTest, ANextConfigWhoseLoadHangsHarmsOnlyItself) {
  if (IsCuda()) GTEST_SKIP() << "only code of OpenCL can hold a source, which is compiled when it is loaded";
  std::string source = "opencl-source\n#define m0 1 +\n";
  for (int i = 1; i <= 40; ++i) {
    const std::string last = "m" + std::to_string(i - 1);
    absl::StrAppend(&source, "#define m", i, " ", last, " ", last, "\n");
  }
  MeasureRequest hanging = RequestFor(kRight);
  hanging.code =
      std::make_shared<const CompiledCode>(CompiledCode{.binary = source + "__kernel void f() { int x = m40 0; }"});
  hanging.load_limit = absl::Milliseconds(500);
  const absl::StatusOr<wire::Outcome> first = measurer_->Measure(RequestFor(kRight), &hanging);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_TRUE(first->has_perf_ms()) << first->failure().message();
  const wire::Failure failure = ExpectFailure(hanging);
  EXPECT_EQ(failure.phase(), "load");
  EXPECT_EQ(failure.error_class(), "Hang");
  ExpectThatTheNextIsMeasuredRight();
}

TEST_F(MeasurerTest, TellsTheTimeOfEachStep) {
  const wire::Outcome outcome = Measure(kRight);
  for (const double seconds :
       {outcome.steps().load_s(), outcome.steps().run_s(), outcome.steps().check_s(), outcome.steps().sample_s()}) {
    EXPECT_GT(seconds, 0);
    EXPECT_LT(seconds, 60);
  }
  const wire::Outcome wrong = Measure("out[i] = 0.0f;");
  EXPECT_GT(wrong.steps().check_s(), 0);
  EXPECT_EQ(wrong.steps().sample_s(), 0) << "it has no samples";
}

class ReferenceTest : public MeasurerTest {
 protected:
  // Returns the problem with this code's results as the expected ones.
  MeasureProblem ReferenceProblem(const std::string& body) {
    MeasureProblem problem = DoublingProblem();
    problem.data_sets[0].buffers[1].expected.clear();
    problem.reference = RequestFor(body);
    return problem;
  }
  absl::Status StartError(const MeasureProblem& problem) {
    return Measurer::Start(problem, {.device = DeviceName()}).status();
  }
};

TEST_F(ReferenceTest, ItsResultsAreTheExpectedOnesOfAllProcesses) {
  Start(ReferenceProblem("out[i] = 3.0f * x[i];"));
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(Measure("out[i] = x[i] + 2.0f * x[i];").has_perf_ms());
    EXPECT_EQ(ExpectFailure(kRight).error_class(), "WrongResult");
    EXPECT_EQ(ExpectFailure("out[i] = 3.0f * x[i]; if (i == 0) out[1000] = 3.0f;").error_class(), "OutOfBounds");
    EXPECT_TRUE(Measure("out[i] = x[i] + 2.0f * x[i];").has_perf_ms()) << "everything was restored";
    // The next process gets the results as data.
    ExpectFailure("out[(long)i + ((long)1 << 42)] = 2.0f * x[i];");
  }
}

TEST_F(ReferenceTest, DoublesAreCompared) {
  MeasureProblem problem = ReferenceProblem("((GLOBAL double*)out)[i] = 1.0 / 3.0 * x[i];");
  problem.buffers[1].dtype = device::DType::kI32;
  problem.buffers[1].sizes = {int64_t{2} * kNumbers};
  problem.buffers[1].strides = {1};
  problem.buffers[1].holds_doubles = true;
  problem.buffers[1].expected = ir::Tolerance{.absolute = 0, .relative = 1e-6};
  Start(problem);
  EXPECT_TRUE(Measure("((GLOBAL double*)out)[i] = x[i] / 3.0;").has_perf_ms());
  EXPECT_EQ(ExpectFailure("((GLOBAL double*)out)[i] = x[i] / 3.0 + (i == 999 ? 1e-2 : 0.0);").error_class(),
            "WrongResult");
}

TEST_F(ReferenceTest, OneThatReadsWhatItWritesRunsOnTheInitialContents) {
  MeasureProblem problem = ReferenceProblem("out[i] = out[i] + x[i];");
  problem.data_sets[0].buffers[1].initial = problem.data_sets[0].buffers[0].initial;
  Start(problem);
  EXPECT_TRUE(Measure("out[i] = x[i] + out[i];").has_perf_ms());
  EXPECT_TRUE(Measure("out[i] = 2.0f * out[i];").has_perf_ms());
}

TEST_F(ReferenceTest, ItsFailureIsNamed) {
  const absl::Status crash = StartError(ReferenceProblem("out[(long)i + ((long)1 << 42)] = 2.0f * x[i];"));
  EXPECT_EQ(crash.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(crash.message()), HasSubstr("the reference of the verification failed: "));
  const absl::Status beyond = StartError(ReferenceProblem("out[i] = x[i]; if (i == 0) out[1000] = 3.0f;"));
  EXPECT_EQ(beyond.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(beyond.message()), HasSubstr("OutOfBounds: wrote beyond 'out'"));
  MeasureProblem problem = ReferenceProblem(kRight);
  problem.reference->arguments = {BufferIndex{0}, BufferIndex{2}};
  EXPECT_EQ(StartError(problem).code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(MeasurerTest, RefusesBuffersThatTheProblemHasNot) {
  MeasureRequest request = RequestFor(kRight);
  request.arguments = {BufferIndex{0}, BufferIndex{2}};
  EXPECT_EQ(measurer_->Measure(request).status().code(), absl::StatusCode::kInvalidArgument);
  request.arguments = {BufferIndex{-1}, BufferIndex{1}};
  EXPECT_EQ(measurer_->MeasureInterleaved({request}, {.rounds = 1}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(MeasurerTest, MeasuresWhatChangesItsArguments) {
  MeasureProblem problem = DoublingProblem();
  problem.buffers[1].name = "x";
  problem.data_sets[0].buffers[1].initial = problem.data_sets[0].buffers[0].initial;
  Start(problem);
  EXPECT_TRUE(Measure("out[i] = out[i] + x[i];").has_perf_ms());
  EXPECT_TRUE(Measure("out[i] = 2.0f * out[i];").has_perf_ms()) << "the argument must be restored for each config";
  EXPECT_FALSE(Measure("out[i] = 2.5f * out[i];").has_perf_ms());
}

TEST_F(MeasurerTest, RestoresAnArgumentOfZeros) {
  MeasureProblem problem = DoublingProblem();
  problem.data_sets[0].buffers[1].initial.resize(problem.data_sets[0].buffers[0].initial.size());
  Start(problem);
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(Measure("out[i] = out[i] + 2.0f * x[i];").has_perf_ms()) << "the argument must be restored";
  }
}

TEST_F(MeasurerTest, MeasuresWhatHasNothingToDo) {
  const ProblemBuffer x = {.name = "x", .sizes = {0}, .strides = {1}};
  ProblemBuffer out = x;
  out.expected = ir::Tolerance();
  Start({.buffers = {x, out}, .data_sets = {{.buffers = {BufferData(), BufferData()}}}});
  MeasureRequest request = RequestFor(kRight);
  request.shape.grid = 0;
  EXPECT_TRUE(Measure(request).has_perf_ms());
}

TEST(MeasurerStartTest, RefusesADeviceThatIsNotThere) {
  const MeasureProblem problem = {.data_sets = {DataSet()}};
  const absl::Status status = Measurer::Start(problem, {.device = "opencl:77"}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("opencl:77"));
}

}  // namespace
}  // namespace telemetry::worker::tune::measure
