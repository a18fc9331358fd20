#include "worker/tune/measure/problem_image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <future>

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

TEST(ProblemImageTest, HasRoomForTheResultsOfAReference) {
  MeasureProblem problem = SmallProblem();
  problem.reference.emplace();
  EXPECT_THAT(Refusal(problem), HasSubstr("'n': expected values beside a reference"));
  problem.data_sets[0].buffers[1].expected.clear();
  EXPECT_EQ(MakeImage(problem, "opencl:0")->setup.data_sets(0).buffers(1).expected().size(), 8u);
  EXPECT_EQ(MakeImage(problem, "opencl:0")->setup.data_sets(0).buffers(0).expected().size(), 0u) << "it is read-only";
  problem.data_sets.push_back(problem.data_sets[0]);
  EXPECT_THAT(Refusal(problem), HasSubstr("one data set"));
}

// Returns a problem whose last data set follows.
MeasureProblem WithLast() {
  MeasureProblem problem = SmallProblem();
  std::promise<absl::StatusOr<DataSet>> last;
  problem.last = last.get_future().share();
  return problem;
}

TEST(ProblemImageTest, TheLastDataSetMayFollow) {
  ProblemImage image = MakeImage(WithLast(), "opencl:0").value();
  ASSERT_EQ(image.setup.data_sets_size(), 2);
  DataSet last = SmallProblem().data_sets[0];
  last.buffers[0].initial.assign(4, std::byte{9});
  ASSERT_TRUE(SetLast(last, &image).ok());
  const auto first_of = [&image](int set) {
    return FindBytes(image.setup.data_sets(set).buffers(0).initial(), image.data.bytes())->front();
  };
  EXPECT_EQ(first_of(0), std::byte{7});
  EXPECT_EQ(first_of(1), std::byte{9});
}

TEST(ProblemImageTest, ALastDataSetOfOtherSizesIsRefused) {
  MeasureProblem problem = WithLast();
  problem.baselines.resize(1);
  problem.data_sets[0].buffers[1] = {.sample = {{.place = 1, .value = -2}}};
  ProblemImage image = MakeImage(problem, "opencl:0").value();
  const DataSet right = problem.data_sets[0];
  EXPECT_TRUE(SetLast(right, &image).ok());
  DataSet other = right;
  other.buffers[0].initial.pop_back();
  EXPECT_EQ(SetLast(other, &image).code(), absl::StatusCode::kInvalidArgument);
  other = right;
  other.buffers[1].sample.clear();
  EXPECT_EQ(SetLast(other, &image).code(), absl::StatusCode::kInvalidArgument);
  other = right;
  other.buffers[1].sample[0].place = 2;
  EXPECT_EQ(SetLast(other, &image).code(), absl::StatusCode::kInvalidArgument) << "it is outside of the buffer";
  other = right;
  other.buffers.pop_back();
  EXPECT_EQ(SetLast(other, &image).code(), absl::StatusCode::kInvalidArgument);
}

// Sets the expected results from these bytes of device memory, in two parts, and returns them as they are compared.
template <typename Expected>
std::vector<Expected> ExpectedFrom(DType dtype, std::vector<uint8_t> bytes, size_t first_part) {
  const auto elements = static_cast<int64_t>(bytes.size() / SizeOf(dtype));
  MeasureProblem problem = {
      .buffers = {{.name = "y", .dtype = dtype, .sizes = {elements}, .strides = {1}, .expected = ir::Tolerance()}},
      .data_sets = {{.buffers = {BufferData()}}}};
  problem.reference.emplace();
  ProblemImage image = MakeImage(problem, "opencl:0").value();
  const absl::Span<const std::byte> all(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size());
  SetExpected(0, 0, all.first(first_part * SizeOf(dtype)), &image);
  SetExpected(0, first_part, all.subspan(first_part * SizeOf(dtype)), &image);
  const auto placed = FindBytes(image.setup.data_sets(0).buffers(0).expected(), image.data.bytes());
  std::vector<Expected> expected(placed->size() / sizeof(Expected));
  std::memcpy(expected.data(), placed->data(), placed->size());
  return expected;
}

TEST(ProblemImageTest, ConvertsTheResultsOfAReference) {
  EXPECT_THAT(ExpectedFrom<float>(DType::kF32, {0, 0, 0x80, 0x3f, 0, 0, 0x20, 0xc0}, 1), ElementsAre(1, -2.5));
  EXPECT_THAT(ExpectedFrom<float>(DType::kF16, {0x00, 0x3c, 0x00, 0xc1, 0x01, 0x00}, 2),
              ElementsAre(1, -2.5, std::ldexp(1.0F, -24)));
  EXPECT_THAT(ExpectedFrom<float>(DType::kBF16, {0x80, 0x3f, 0x20, 0xc0}, 1), ElementsAre(1, -2.5));
  EXPECT_THAT(ExpectedFrom<int32_t>(DType::kI32, {0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0x80}, 1),
              ElementsAre(2147483647, -2147483647 - 1));
  EXPECT_THAT(ExpectedFrom<int32_t>(DType::kBool, {0, 1, 200}, 1), ElementsAre(0, 1, 200));
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
