#include "worker/forward/origin.h"

#include <map>
#include <string>

#include "gtest/gtest.h"

namespace telemetry::worker::forward {
namespace {

std::string Origin(std::map<std::string, std::string> variables) {
  return OriginFromEnvironment([&variables](const char* name) { return variables[name]; });
}

TEST(Origin, NoneOutsideOfCi) { EXPECT_EQ(Origin({{"HOME", "/root"}}), ""); }

TEST(Origin, GithubTellsTriesAndJobsApart) {
  const std::map<std::string, std::string> job = {{"GITHUB_REPOSITORY", "pytorch/helion"},
                                                  {"GITHUB_RUN_ID", "17"},
                                                  {"GITHUB_RUN_ATTEMPT", "1"},
                                                  {"GITHUB_JOB", "bench"},
                                                  {"RUNNER_NAME", "h200-3"}};
  EXPECT_EQ(Origin(job), "github:pytorch/helion/17/1/bench/h200-3");
  auto second_try = job;
  second_try["GITHUB_RUN_ATTEMPT"] = "2";
  EXPECT_NE(Origin(second_try), Origin(job));
}

TEST(Origin, Gitlab) {
  EXPECT_EQ(Origin({{"CI_PROJECT_PATH", "gpu/kernels"}, {"CI_JOB_ID", "99"}}), "gitlab:gpu/kernels/99");
}

}  // namespace
}  // namespace telemetry::worker::forward
