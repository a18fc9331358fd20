#include "worker/device/dtype.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace telemetry::worker::device {
namespace {

TEST(DTypeTest, ReadsBothOfItsSpellings) {
  for (const DType dtype : kAllDTypes) {
    EXPECT_EQ(ParseDType(ShortName(dtype)).value(), dtype);
    EXPECT_EQ(ParseDType(TorchName(dtype)).value(), dtype);
  }
  EXPECT_EQ(TorchName(ParseDType("bf16").value()), "torch.bfloat16");
}

TEST(DTypeTest, NamesWhatIsAllowed) {
  const absl::Status status = ParseDType("f64").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              testing::AllOf(testing::HasSubstr("\"f64\""), testing::HasSubstr("bf16 (torch.bfloat16), i32")));
}

TEST(DTypeTest, KnowsItsSize) {
  EXPECT_EQ(SizeOf(DType::kF32), 4u);
  EXPECT_EQ(SizeOf(DType::kBF16), 2u);
  EXPECT_EQ(SizeOf(DType::kBool), 1u);
  EXPECT_TRUE(IsFloat(DType::kF16));
  EXPECT_FALSE(IsFloat(DType::kI32));
}

}  // namespace
}  // namespace telemetry::worker::device
