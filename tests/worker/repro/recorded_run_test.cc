#include "worker/repro/recorded_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "worker/tune/library_subject.h"

namespace telemetry::worker::repro {
namespace {

using device::Dialect;
using device::DType;
using kernels::LibraryKernel;
using kernels::Problem;
using runtime::Settings;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

v1::Run MakeRun(const LibraryKernel& kernel, const Problem& problem, const Settings& settings = {},
                Dialect dialect = Dialect::kCuda) {
  return tune::MakeLibraryRun(kernel, problem, settings, {.dialect = dialect, .name = "NVIDIA H200"});
}

v1::Run AttentionRun() {
  const LibraryKernel& kernel = **kernels::FindKernel("attention");
  return MakeRun(kernel, kernels::DefaultProblem(kernel));
}

TEST(ReadRun, UnderstandsEveryKernelInEveryDType) {
  for (const LibraryKernel* kernel : kernels::AllKernels()) {
    for (const DType dtype : kernel->dtypes) {
      const Problem problem = kernels::MakeProblem(*kernel, dtype);
      SCOPED_TRACE(kernel->name + " " + problem.ToString());
      const absl::StatusOr<RecordedRun> read = ReadRun(MakeRun(*kernel, problem));
      ASSERT_TRUE(read.ok()) << read.status();
      EXPECT_EQ(read->kernel, kernel);
      EXPECT_EQ(read->problem.ToString(), problem.ToString());
      EXPECT_EQ(read->dialect, Dialect::kCuda);
      EXPECT_THAT(read->notices, IsEmpty());
    }
  }
}

TEST(ReadRun, UnderstandsFlagsAndSettings) {
  const LibraryKernel& kernel = **kernels::FindKernel("attention");
  const Problem problem = kernels::MakeProblem(kernel, DType::kF16, {}, {{"causal", 1}});
  const Settings settings = {
      .dot_precision = runtime::DotPrecision::kIeee, .fast_math = true, .persistent_reserved_sms = 4};
  const absl::StatusOr<RecordedRun> read = ReadRun(MakeRun(kernel, problem, settings, Dialect::kOpenCl));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->problem.number("causal"), 1);
  EXPECT_EQ(read->settings, settings);
  EXPECT_EQ(read->dialect, Dialect::kOpenCl);
  EXPECT_THAT(read->notices, IsEmpty());
}

TEST(ReadRun, SaysWhatIsNotAsItWasMeasured) {
  const LibraryKernel& kernel = **kernels::FindKernel("add");
  v1::Run other_source = MakeRun(kernel, kernels::DefaultProblem(kernel));
  other_source.set_run_id(std::string(64, '0'));
  EXPECT_THAT(ReadRun(other_source)->notices, ElementsAre(HasSubstr("source differs")));
  const v1::Run dynamic = MakeRun(kernel, kernels::DefaultProblem(kernel), {.static_shapes = false});
  EXPECT_THAT(ReadRun(dynamic)->notices, ElementsAre(HasSubstr("static_shapes=false")));
}

TEST(ReadRun, RefusesWhatItCannotUnderstand) {
  const auto why = [](const v1::Run& run) {
    const absl::Status status = ReadRun(run).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented) << status;
    return std::string(status.message());
  };
  v1::Run run = AttentionRun();
  run.set_kernel_name("my_attention");
  EXPECT_THAT(why(run), HasSubstr("'my_attention' is not one of them"));
  run = AttentionRun();
  run.set_input_shapes("[(1, 2)]");
  EXPECT_THAT(why(run), HasSubstr("takes 3 tensors"));
  run.set_input_shapes("[(1, 2");
  EXPECT_THAT(why(run), HasSubstr("[(1, 2"));
  run.set_input_shapes("");
  EXPECT_THAT(why(run), HasSubstr("input"));
  run.set_input_shapes("4");
  EXPECT_THAT(why(run), HasSubstr("takes 3 tensors"));
  run = AttentionRun();
  run.set_dtypes("['torch.complex64', 'torch.float16', 'torch.float16']");
  EXPECT_THAT(why(run), HasSubstr("complex64"));
  run = AttentionRun();
  run.set_settings_json(absl::StrReplaceAll(run.settings_json(), {{"static_shapes", "sheer_luck"}}));
  EXPECT_THAT(why(run), HasSubstr("sheer_luck"));
  run = AttentionRun();
  run.set_settings_json(R"({"backend": "triton", "ignore_warnings": [], "static_shapes": true})");
  EXPECT_THAT(why(run),
              HasSubstr("'attention' is not one of them, because another tuner measured it (backend 'triton')"));
  run.clear_settings_json();
  EXPECT_THAT(why(run), HasSubstr("settings"));
}

}  // namespace
}  // namespace telemetry::worker::repro
