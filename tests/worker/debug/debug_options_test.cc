#include "worker/debug/debug_options.h"

#include <gmock/gmock.h>

#include <cstdlib>

namespace telemetry::worker::debug {
namespace {

TEST(DebugOptionsTest, LevelsAreNumbers) {
  EXPECT_EQ(*ParseDebugLevel(""), DebugLevel::kOff);
  EXPECT_EQ(*ParseDebugLevel("0"), DebugLevel::kOff);
  EXPECT_EQ(*ParseDebugLevel("3"), DebugLevel::kNames);
  for (const char* wrong : {"4", "-1", "two", "22", " 2"}) {
    const absl::Status status = ParseDebugLevel(wrong).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << wrong;
    EXPECT_THAT(std::string(status.message()), testing::HasSubstr("1 saves values"));
  }
}

TEST(DebugOptionsTest, KernelNamesAreSeparatedByCommas) {
  EXPECT_THAT(SplitKernelNames(" softmax,,layer_norm "), testing::ElementsAre("softmax", "layer_norm"));
  EXPECT_TRUE(SplitKernelNames("").empty());
}

class DebugEnvironmentTest : public testing::Test {
 protected:
  ~DebugEnvironmentTest() override {
    for (const char* name : {"VALUES", "KERNELS", "DIR"}) unsetenv(DebugVariable(name).c_str());
  }
  static std::string DebugVariable(const std::string& name) { return "TELEMETRY_WORKER_DEBUG_" + name; }
  static void Set(const std::string& name, const char* value) { setenv(DebugVariable(name).c_str(), value, 1); }
};

TEST_F(DebugEnvironmentTest, IsOffByDefault) {
  const absl::StatusOr<DebugOptions> options = DebugOptionsFromEnvironment();
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_FALSE(options->is_on());
  EXPECT_EQ(options->folder, kDefaultDebugFolder);
}

TEST_F(DebugEnvironmentTest, TakesAllThree) {
  Set("VALUES", "1");
  Set("KERNELS", "Softmax,add");
  Set("DIR", "/somewhere");
  const absl::StatusOr<DebugOptions> options = DebugOptionsFromEnvironment();
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->level, DebugLevel::kSave);
  EXPECT_THAT(options->kernels, testing::ElementsAre("Softmax", "add"));
  EXPECT_EQ(options->folder, "/somewhere");
}

TEST_F(DebugEnvironmentTest, NamesTheVariableThatIsWrong) {
  Set("VALUES", "7");
  EXPECT_THAT(std::string(DebugOptionsFromEnvironment().status().message()),
              testing::HasSubstr("TELEMETRY_WORKER_DEBUG_VALUES: invalid level \"7\""));
}

}  // namespace
}  // namespace telemetry::worker::debug
