#include "worker/tune/trial_log.h"

#include <gtest/gtest.h>

#include "tests/worker/tune/recording/memory_producer.h"
#include "worker/tune/recording/run_description.h"
#include "worker/tune/recording/statuses.h"

namespace telemetry::worker::tune {
namespace {

namespace status = recording::status;
using codegen::Config;

class TrialLogTest : public testing::Test {
 protected:
  TrialLogTest() : recorder_(MakeRecorder()), log_(recorder_.get(), /*journal=*/nullptr, absl::ZeroDuration()) {}

  std::unique_ptr<recording::AttemptRecorder> MakeRecorder() {
    recording::AttemptInfo info = {.attempt_id = recording::NewAttemptId(),
                                   .run = recording::DescribeRun({.kernel_name = "softmax"})};
    return recording::AttemptRecorder::Create(std::move(info), {.producer = &producer_}).value();
  }
  static Config Warps(int warps) { return *Config::Parse("Config(num_warps=" + std::to_string(warps) + ")"); }
  static recording::AttemptRow Row(int64_t generation, const Config& config, const char* status) {
    return {.generation = generation, .config = config, .status = status};
  }

  recording::MemoryProducer producer_;
  std::unique_ptr<recording::AttemptRecorder> recorder_;
  TrialLog log_;
};

TEST_F(TrialLogTest, KnowsWhichConfigWasInterruptedWhateverWasPassedOverSince) {
  ASSERT_TRUE(log_.Replay({Row(0, Warps(1), status::kOk), Row(0, Warps(2), status::kStarted)}).ok());
  ASSERT_TRUE(log_.Finish(Row(0, Warps(4), status::kDeduplicated)).ok());
  EXPECT_EQ(log_.Interrupted(), Warps(2));
  ASSERT_TRUE(log_.Finish(Row(0, Warps(2), status::kFiltered)).ok());
  EXPECT_FALSE(log_.Interrupted().has_value());
}

TEST_F(TrialLogTest, OtherResultsComeBeforeTheNextStart) {
  ASSERT_TRUE(log_.Start(0, Warps(1)).ok());
  const Beginning next = {.generation = 1, .config = Warps(4)};
  ASSERT_TRUE(log_.Finish(Row(0, Warps(1), status::kOk), &next, {Row(1, Warps(2), status::kDeduplicated)}).ok());
  std::vector<std::string> statuses;
  for (const recording::AttemptRow& row : log_.rows()) statuses.push_back(row.status);
  const std::vector<std::string> expected = {status::kStarted, status::kOk, status::kDeduplicated, status::kStarted};
  EXPECT_EQ(statuses, expected);
  EXPECT_EQ(log_.Interrupted(), Warps(4));
}

TEST_F(TrialLogTest, AConfigThatAnEarlierProcessStartedIsNotStartedAgain) {
  ASSERT_TRUE(log_.Replay({Row(0, Warps(2), status::kStarted)}).ok());
  ASSERT_TRUE(log_.Start(0, Warps(2)).ok());
  EXPECT_EQ(log_.rows().size(), 1u);
}

TEST_F(TrialLogTest, CountsConfigsOnceAndGenerationsThatHaveResults) {
  ASSERT_TRUE(log_.Replay({Row(0, Warps(1), status::kStarted), Row(0, Warps(1), status::kOk)}).ok());
  ASSERT_TRUE(log_.Finish(Row(0, Warps(2), status::kDeduplicated)).ok());
  ASSERT_TRUE(log_.Finish(Row(1, Warps(1), status::kFiltered)).ok());
  ASSERT_TRUE(log_.Start(2, Warps(4)).ok());
  EXPECT_EQ(log_.generations(), 2);
  EXPECT_EQ(log_.Counters().configs_tested, 2);
  EXPECT_EQ(log_.Counters().deduplicated, 1);
  EXPECT_EQ(log_.Counters().filtered, 1);
}

}  // namespace
}  // namespace telemetry::worker::tune
