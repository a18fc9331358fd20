#include "worker/tune/measure/problem_image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace telemetry::worker::tune::measure {
namespace {

using device::DType;
using testing::ElementsAre;
using testing::HasSubstr;

MeasureProblem SmallProblem() {
  return {.buffers = {{.name = "x", .dtype = DType::kF16, .sizes = {2}, .strides = {1}},
                      {.name = "n", .dtype = DType::kI32, .sizes = {2}, .strides = {1}, .expected = ir::Tolerance()}},
          .data_sets = {{.buffers = {{.initial = std::vector<std::byte>(4, std::byte{7})}, {.expected = {1, -2}}}}}};
}

std::string Refusal(const MeasureProblem& problem) {
  const absl::Status status = MakeImage(problem, "opencl:0").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  return std::string(status.message());
}

TEST(ProblemImageTest, HasTheDataAtTheirPlaces) {
  const ProblemImage image = MakeImage(SmallProblem(), "opencl:0").value();
  const wire::DataSet& set = image.setup.data_sets(0);
  EXPECT_THAT(*FindBytes(set.buffers(0).initial(), image.data.bytes()),
              ElementsAre(std::byte{7}, std::byte{7}, std::byte{7}, std::byte{7}));
  int32_t expected[2];
  ASSERT_EQ(set.buffers(1).expected().size(), sizeof(expected));
  std::memcpy(expected, FindBytes(set.buffers(1).expected(), image.data.bytes())->data(), sizeof(expected));
  EXPECT_THAT(expected, ElementsAre(1, -2));
  EXPECT_TRUE(image.setup.buffers(1).written());
}

TEST(ProblemImageTest, RefusesWhatIsNotConsistent) {
  MeasureProblem problem = SmallProblem();
  problem.data_sets[0].buffers[0].initial.pop_back();
  EXPECT_THAT(Refusal(problem), HasSubstr("'x': 3 bytes for 2 elements of f16"));
  problem = SmallProblem();
  problem.data_sets[0].buffers[1].expected.pop_back();
  EXPECT_THAT(Refusal(problem), HasSubstr("'n': 1 expected values for 2 elements"));
  problem = SmallProblem();
  problem.buffers[0].strides = {-1};
  EXPECT_THAT(Refusal(problem), HasSubstr("negative"));
  problem = SmallProblem();
  problem.data_sets[0].buffers.pop_back();
  EXPECT_THAT(Refusal(problem), HasSubstr("2 buffers"));
  problem = SmallProblem();
  problem.data_sets.clear();
  EXPECT_THAT(Refusal(problem), HasSubstr("no data set"));
}

TEST(ProblemImageTest, RefusesRangesOutsideTheData) {
  const ProblemImage image = MakeImage(SmallProblem(), "opencl:0").value();
  wire::Range range;
  range.set_offset(8);
  range.set_size(~uint64_t{0});
  EXPECT_EQ(FindBytes(range, image.data.bytes()).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace telemetry::worker::tune::measure
