#include "worker/forward/sidecar_group.h"

#include <filesystem>
#include <string>

#include "gtest/gtest.h"
#include "tests/worker/forward/model_dataset.h"
#include "tests/worker/forward/test_files.h"

namespace telemetry::worker::forward {
namespace {

class SidecarGroupTest : public ::testing::Test {
 protected:
  void Write(const std::string& suffix, const std::string& sample) {
    WriteFile(folder_.File("k" + suffix), ReadFile(Sample(sample)));
  }
  void Rename(const std::string& suffix, const std::string& addition) {
    std::filesystem::rename(folder_.File("k" + suffix), folder_.File("k" + suffix + addition));
  }
  // Reads the sample alone.
  void Expect(const std::string& sample) {
    SidecarGroup group({Sample(sample)}, "", {}, expected_.Sink());
    EXPECT_TRUE(group.Finish().ok());
  }

  TempFolder folder_;
  ModelDataset dataset_;
  ModelDataset expected_;
  SidecarGroup group_{{folder_.File("k")}, "", {}, dataset_.Sink()};
};

TEST_F(SidecarGroupTest, MoreRotationsThanGenerationsThatAreRead) {
  int rotations = 0;
  for (const char* sample : {"helion-main/bmm", "helion-main/rms_norm", "helion-main/softmax", "helion-1.5.1/job"}) {
    Write(".csv", std::string(sample) + ".csv");
    ASSERT_TRUE(group_.Advance().ok());
    Rename(".csv", "." + std::to_string(++rotations));
    Expect(sample);
  }
  ASSERT_TRUE(group_.Finish().ok());
  EXPECT_EQ(group_.counts().rows, dataset_.rows.size());
  EXPECT_EQ(dataset_.rows.size(), expected_.rows.size());
}

TEST_F(SidecarGroupTest, ARowThatIsWrittenAfterTheRotationIsRead) {
  const std::string csv = ReadFile(Sample("helion-main/bmm.csv"));
  const size_t half = csv.find('\n', csv.size() / 2) + 1;
  WriteFile(folder_.File("k.csv"), csv.substr(0, half));
  ASSERT_TRUE(group_.Advance().ok());
  Rename(".csv", ".1");
  Write(".csv", "helion-main/rms_norm.csv");
  ASSERT_TRUE(group_.Advance().ok());
  AppendFile(folder_.File("k.csv.1"), csv.substr(half));
  ASSERT_TRUE(group_.Finish().ok());
  Expect("helion-main/bmm");
  Expect("helion-main/rms_norm");
  EXPECT_EQ(dataset_.rows, expected_.rows);
}

TEST_F(SidecarGroupTest, OnlyTheRowsAreRotated) {
  Write(".csv", "helion-main/rms_norm.csv");
  Write(".meta.jsonl", "helion-main/rms_norm.meta.jsonl");
  ASSERT_TRUE(group_.Advance().ok());
  Rename(".csv", "-20261125");
  Write(".csv", "helion-main/bmm.csv");
  ASSERT_TRUE(group_.Finish().ok());
  Expect("helion-main/rms_norm");
  Expect("helion-main/bmm");
  EXPECT_EQ(dataset_.rows, expected_.rows);
  EXPECT_EQ(dataset_.runs.size(), expected_.runs.size());
}

}  // namespace
}  // namespace telemetry::worker::forward
