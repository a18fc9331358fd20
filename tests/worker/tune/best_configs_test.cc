#include "worker/tune/best_configs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace telemetry::worker::tune {
namespace {

namespace fs = std::filesystem;

class BestConfigsTest : public testing::Test {
 protected:
  BestConfigsTest() { fs::remove_all(folder_); }
  ~BestConfigsTest() override { fs::remove_all(folder_); }

  static BestConfig Best(char digit, const std::string& kernel, double perf_ms) {
    v1::Run run;
    run.set_run_id(std::string(64, digit));
    run.set_kernel_name(kernel);
    run.set_input_shapes("[(4, 8)]");
    run.set_dtypes("['torch.float16']");
    run.set_hardware("H");
    return MakeBestConfig(run, *codegen::Config::Parse("Config(num_warps=4)"), perf_ms, "attempt");
  }

  const fs::path folder_ =
      fs::path(testing::TempDir()) /
      ("best-" + std::to_string(getpid()) + "-" + testing::UnitTest::GetInstance()->current_test_info()->name());
  const BestConfigCache cache_{folder_.string()};
};

TEST_F(BestConfigsTest, KeepsTheNewestOfARun) {
  EXPECT_EQ(cache_.Find(std::string(64, 'a')).status().code(), absl::StatusCode::kNotFound);
  ASSERT_TRUE(cache_.Put(Best('a', "softmax", 0.5)).ok());
  ASSERT_TRUE(cache_.Put(Best('a', "softmax", 0.7)).ok());
  const absl::StatusOr<BestConfig> best = cache_.Find(std::string(64, 'a'));
  ASSERT_TRUE(best.ok()) << best.status();
  EXPECT_EQ(best->perf_ms, 0.7);
  EXPECT_EQ(best->config.ToString(), "Config(num_warps=4)");
  EXPECT_EQ(best->attempt_id, "617474656d7074");
}

TEST_F(BestConfigsTest, FindsOtherShapesOfAKernel) {
  ASSERT_TRUE(cache_.Put(Best('a', "softmax", 0.5)).ok());
  ASSERT_TRUE(cache_.Put(Best('b', "softmax", 0.6)).ok());
  ASSERT_TRUE(cache_.Put(Best('c', "add", 0.7)).ok());
  EXPECT_EQ(cache_.FindAll("softmax", "H").size(), 2u);
  EXPECT_TRUE(cache_.FindAll("softmax", "another device").empty());
}

TEST_F(BestConfigsTest, ADamagedFileSaysWhatToDo) {
  ASSERT_TRUE(cache_.Put(Best('a', "softmax", 0.5)).ok());
  std::ofstream(folder_ / (std::string(64, 'a') + ".json")) << "{\"run_id\": ";
  const absl::Status status = cache_.Find(std::string(64, 'a')).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("remove the file"));
  EXPECT_TRUE(cache_.FindAll("softmax", "H").empty());
}

}  // namespace
}  // namespace telemetry::worker::tune
