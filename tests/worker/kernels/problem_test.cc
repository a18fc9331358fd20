#include "worker/kernels/problem.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "worker/kernels/draw.h"
#include "worker/kernels/fits_memory.h"
#include "worker/kernels/library.h"

namespace telemetry::worker::kernels {
namespace {

using device::DType;
using testing::HasSubstr;

const LibraryKernel& Kernel(const std::string& name) { return **FindKernel(name); }

std::string Parsed(const std::string& kernel, const std::vector<std::string>& arguments) {
  const absl::StatusOr<Problem> problem = ParseProblem(Kernel(kernel), arguments);
  return problem.ok() ? problem->ToString() : std::string(problem.status().message());
}

TEST(ProblemTest, DefaultsAreTheKernels) {
  EXPECT_EQ(Parsed("softmax", {}), "x=4096x2560:f16");
  EXPECT_EQ(Parsed("attention", {}), "q=2x32x1024x64:f16 k=2x32x1024x64:f16 v=2x32x1024x64:f16 causal=0");
}

TEST(ProblemTest, OtherTensorsFollowTheOneThatIsGiven) {
  EXPECT_EQ(Parsed("layer_norm", {"x=8x100:f32"}), "x=8x100:f32 weight=100:f32 bias=100:f32 eps=1e-05");
  EXPECT_EQ(Parsed("layer_norm", {"x=8x100:f16", "weight=100:f32"}),
            "x=8x100:f16 weight=100:f32 bias=100:f16 eps=1e-05");
  EXPECT_EQ(Parsed("matmul", {"y=5x7"}), "x=1024x5:f16 y=5x7:f16");
  EXPECT_EQ(Parsed("cross_entropy", {"logits=8x100:bf16"}), "logits=8x100:bf16 labels=8:i32");
}

TEST(ProblemTest, TakesNumbersAndFlags) {
  EXPECT_THAT(Parsed("rms_norm", {"eps=1e-6"}), HasSubstr("eps=1e-06"));
  EXPECT_THAT(Parsed("attention", {"causal=true"}), HasSubstr("causal=1"));
}

TEST(ProblemTest, MayBeTooLargeForTheMachine) {
  const LibraryKernel& kernel = **FindKernel("add");
  EXPECT_TRUE(CheckFitsMemory(DefaultProblem(kernel)).ok());
  for (const int64_t size : {int64_t{1000000}, int64_t{1} << 40}) {
    const absl::Status status = CheckFitsMemory(MakeProblem(kernel, DType::kF32, {{"m", size}, {"n", size}}));
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_THAT(status.ToString(), HasSubstr("GiB of memory"));
  }
}

TEST(ProblemTest, RefusesWhatItCannotMean) {
  EXPECT_EQ(Parsed("add", {"z=1x1"}), "argument \"z=1x1\": add has no argument \"z\"; it has: x, y");
  EXPECT_EQ(Parsed("add", {"x=1x2", "y=1x3"}), "argument \"y=1x3\": dimension n is 3 here but 2 before");
  EXPECT_EQ(Parsed("add", {"x=12"}), "argument \"x=12\": the shape of x is mxn, as in x=128x128");
  EXPECT_EQ(Parsed("add", {"x=1x-2"}), "argument \"x=1x-2\": \"-2\" is not a size of at least 1");
  EXPECT_EQ(Parsed("add", {"x=0x10:f16"}), "argument \"x=0x10:f16\": \"0\" is not a size of at least 1");
  EXPECT_EQ(Parsed("add", {"x=1x2:bool"}), "argument \"x=1x2:bool\": x may be f32, f16, bf16, i32");
  EXPECT_THAT(Parsed("add", {"x=1x2:f64"}), HasSubstr("\"f64\" is not a dtype"));
  EXPECT_EQ(Parsed("cross_entropy", {"labels=4:f32"}), "argument \"labels=4:f32\": labels may be i32");
  EXPECT_EQ(Parsed("attention", {"causal=maybe"}), "argument \"causal=maybe\": causal is true or false");
  EXPECT_EQ(Parsed("rms_norm", {"eps=small"}), "argument \"eps=small\": eps is a number");
}

TEST(ProblemTest, InputsComeFromTheSeed) {
  const LibraryKernel& softmax = Kernel("softmax");
  const Problem problem = MakeProblem(softmax, DType::kF16, {{"m", 3}, {"n", 50}});
  EXPECT_EQ(MakeCase(softmax, problem, 1).tensor("x").data, MakeCase(softmax, problem, 1).tensor("x").data);
  EXPECT_NE(MakeCase(softmax, problem, 1).tensor("x").data, MakeCase(softmax, problem, 2).tensor("x").data);
}

TEST(ProblemTest, LabelsAreInsideTheirDimension) {
  const LibraryKernel& kernel = Kernel("cross_entropy");
  const Case made = MakeCase(kernel, MakeProblem(kernel, DType::kF32, {{"n", 500}, {"v", 7}}), 1);
  EXPECT_THAT(made.tensor("labels").data, testing::Each(testing::AllOf(testing::Ge(0), testing::Lt(7))));
  EXPECT_THAT(made.tensor("labels").data, testing::IsSupersetOf({0.0, 6.0}));
}

}  // namespace
}  // namespace telemetry::worker::kernels
