#include "worker/tune/baseline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "tests/paths.h"
#include "tests/worker/tune/tune_fixture.h"
#include "worker/tune/measure/measurer.h"

namespace telemetry::worker::tune {
namespace {

using codegen::GeneratedKernel;
using measure::MeasureProblem;
using testing::HasSubstr;
using testing::StartsWith;

// Measures code of a kernel whose expected results come from a baseline.
class BaselineTest : public testing::Test {
 protected:
  void Use(const std::string& kernel, const std::vector<std::string>& arguments) {
    subject_ = fixture_.Subject(kernel, arguments);
    inputs_ = fixture_.Inputs(kernel, arguments);
    compile::CompilePoolOptions options = {.program = {.path = program_}, .processes = 1};
    compilers_ = compile::CompilePool::Create(options).value();
    const auto tolerance = [](std::string_view, device::DType dtype) { return ir::ToleranceFor(dtype); };
    const std::vector<runtime::Arguments> calls = {inputs_};
    problem_ =
        MakeBaselineProblem(*subject_.bound, calls, tolerance, {.most_host_work = 0}, compilers_.get()).value().value();
  }

  GeneratedKernel Generated() { return subject_.bound->Generate(subject_.bound->config_space().Default()).value(); }

  absl::Status Start() {
    absl::StatusOr<std::unique_ptr<measure::Measurer>> started =
        measure::Measurer::Start(problem_, {.device = fixture_.device()->id(), .program = program_});
    if (!started.ok()) return started.status();
    measurer_ = *std::move(started);
    return absl::OkStatus();
  }

  measure::wire::Outcome Measure(const GeneratedKernel& generated) {
    return measurer_->Measure(RequestFor(generated)).value();
  }

  measure::MeasureRequest RequestFor(const GeneratedKernel& generated) {
    device::CompiledCode code =
        compilers_->Submit(compile::MakeJob(generated.source, *fixture_.device())).get().code.value();
    return measure::MakeRequest(*subject_.bound, generated, subject_.arguments,
                                std::make_shared<const device::CompiledCode>(std::move(code)))
        .value();
  }

  // Returns code with a statement at the end of the kernel.
  GeneratedKernel WithEnd(const std::string& statement) {
    GeneratedKernel kernel = Generated();
    kernel.source.insert(kernel.source.rfind('}'), "  barrier(CLK_GLOBAL_MEM_FENCE);\n  " + statement + "\n");
    return kernel;
  }

  const std::string program_ = BinDir() + "/telemetry-worker";
  TuneFixture fixture_;
  LibrarySubject subject_;
  runtime::Arguments inputs_;
  std::unique_ptr<compile::CompilePool> compilers_;
  MeasureProblem problem_;
  std::unique_ptr<measure::Measurer> measurer_;
};

TEST_F(BaselineTest, RightCodeAgreesWithIt) {
  Use("softmax", {"x=37x130:f32"});
  ASSERT_EQ(problem_.baselines.size(), 2u);
  EXPECT_TRUE(problem_.data_sets[0].buffers[1].expected.empty());
  EXPECT_GE(problem_.data_sets[0].buffers[1].sample.size(), 2u * 130u) << "at least the first and the last row";
  ASSERT_TRUE(Start().ok());
  const measure::wire::Outcome outcome = Measure(Generated());
  EXPECT_TRUE(outcome.has_perf_ms()) << outcome.failure().message();
  EXPECT_EQ(outcome.check().mismatches(), 0);
}

TEST_F(BaselineTest, TheLastCallHasASampleToo) {
  Use("softmax", {"x=37x130:f32"});
  const auto tolerance = [](std::string_view, device::DType dtype) { return ir::ToleranceFor(dtype); };
  const auto last = [this] { return inputs_; };
  problem_ =
      MakeBaselineProblem(*subject_.bound, {inputs_}, tolerance, {.most_host_work = 0, .last = last}, compilers_.get())
          .value()
          .value();
  ASSERT_TRUE(Start().ok());
  const std::vector<measure::MeasureRequest> requests = {RequestFor(Generated())};
  const measure::FinalOutcome final = measurer_->MeasureInterleaved(requests, {.rounds = 3}).value();
  EXPECT_TRUE(final.outcomes[0].has_perf_ms()) << final.outcomes[0].failure().message();
  ASSERT_TRUE(problem_.last.get().ok());
  measure::DataSet set = *problem_.last.get();
  EXPECT_EQ(set.buffers[1].sample.size(), problem_.data_sets[0].buffers[1].sample.size());
  // The baseline is checked with the sample of the last call as well.
  set.buffers[1].sample[3].value += 1;
  std::promise<absl::StatusOr<measure::DataSet>> wrong;
  wrong.set_value(set);
  problem_.last = wrong.get_future().share();
  ASSERT_TRUE(Start().ok());
  const absl::StatusOr<measure::FinalOutcome> failed = measurer_->MeasureInterleaved(requests, {.rounds = 3});
  EXPECT_FALSE(failed.ok() && failed->outcomes[0].has_perf_ms());
}

TEST_F(BaselineTest, EveryKindOfDefectIsFound) {
  Use("matmul", {"x=96x40:f32", "y=40x72:f32"});
  ASSERT_TRUE(Start().ok());
  struct Defect {
    std::string statement;
    std::string error_class;
  };
  // Blocks run in any order, so each defect is in the tile of the block that makes it.
  const std::string first = "if (get_global_id(0) == 0) ";
  const std::string last = "if (get_global_id(0) == get_global_size(0) - 1) ";
  const std::vector<Defect> defects = {
      {first + "t2[5] += 1.0f;", "WrongResult"},
      {last + "t2[96 * 72 - 1] += 1.0f;", "WrongResult"},
      {first + "t2[63] = 0.0f / 0.0f;", "WrongResult"},
      {first + "for (int i = 0; i < 16; ++i) for (int j = 0; j < 16; ++j) t2[(32 + i) * 72 + 16 + j] = 0.0f;",
       "WrongResult"},
      {first + "t2[96 * 72] = 1.0f;", "OutOfBounds"},
      {first + "t2[-1] = 1.0f;", "OutOfBounds"},
      {first + "((__global float*)t0)[0] += 1.0f;", "InputChanged"},
      {"t2[7] = (float)get_global_id(0);", "WrongResult"},
  };
  for (const Defect& defect : defects) {
    SCOPED_TRACE(defect.statement);
    const measure::wire::Outcome outcome = Measure(WithEnd(defect.statement));
    EXPECT_FALSE(outcome.has_perf_ms());
    EXPECT_EQ(outcome.failure().error_class(), defect.error_class) << outcome.failure().message();
    EXPECT_TRUE(Measure(Generated()).has_perf_ms()) << "the next config is measured";
  }
}

TEST_F(BaselineTest, AWrongOneIsNotUsed) {
  Use("softmax", {"x=37x130:f32"});
  const measure::MeasureRequest right = problem_.baselines[0];
  measure::MeasureRequest wrong =
      RequestFor(WithEnd("if (get_global_id(0) == get_global_size(0) - 1) t1[36 * 130 + 129] += 1.0f;"));
  wrong.label = "the wrong one";
  problem_.baselines = {wrong, right};
  EXPECT_TRUE(Start().ok());
  EXPECT_TRUE(Measure(Generated()).has_perf_ms());
  problem_.baselines = {wrong};
  const absl::Status status = Start();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()),
              StartsWith("no baseline gives the results of the reference:\nthe wrong one: "));
  EXPECT_THAT(std::string(status.message()), HasSubstr("elements of 'out', first at position 4809"));
}

TEST_F(BaselineTest, OneThatCrashesIsNotUsed) {
  Use("softmax", {"x=8x16:f32"});
  problem_.baselines.insert(problem_.baselines.begin(), RequestFor(WithEnd("*(volatile __global int*)8 = 1;")));
  EXPECT_TRUE(Start().ok());
  EXPECT_TRUE(Measure(Generated()).has_perf_ms());
}

TEST(BaselineChoiceTest, SmallCallsAreEvaluatedOnTheHost) {
  TuneFixture fixture;
  const LibrarySubject subject = fixture.Subject();
  const auto pool = compile::CompilePool::Create({.program = {.path = "/bin/false"}}).value();
  const auto tolerance = [](std::string_view, device::DType dtype) { return ir::ToleranceFor(dtype); };
  const std::vector<runtime::Arguments> calls = {fixture.Inputs("softmax", {"x=16x64:f32"})};
  EXPECT_EQ(MakeBaselineProblem(*subject.bound, calls, tolerance, {}, pool.get()).value(), std::nullopt);
}

}  // namespace
}  // namespace telemetry::worker::tune
