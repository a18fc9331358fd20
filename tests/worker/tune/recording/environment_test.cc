#include "worker/tune/recording/environment.h"

#include <gtest/gtest.h>

#include <map>

namespace telemetry::worker::tune::recording {
namespace {

using record::Json;

Json EnvironmentWith(const std::map<std::string, std::string>& variables) {
  return Environment(Json::String("a device"), [variables](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? "" : found->second;
  });
}

TEST(Environment, SaysTheMachineAndTheProgram) {
  const Json json = EnvironmentWith({});
  EXPECT_TRUE(json.Find("program")->text.starts_with("telemetry-worker 0."));
  EXPECT_NE(json.Find("host")->text, "");
  EXPECT_TRUE(json.Find("kernel")->text.starts_with("Linux "));
  EXPECT_GE(std::stoi(json.Find("cpus")->text), 1);
  EXPECT_EQ(json.Find("device")->text, "a device");
  for (const char* key : {"os", "cpu"}) EXPECT_NE(json.Find(key), nullptr) << key;
}

TEST(Environment, OutsideOfCiThereIsNoJob) { EXPECT_TRUE(EnvironmentWith({}).Find("ci")->is_null()); }

TEST(Environment, TheJobIsThatOfTheVariables) {
  const Json json = EnvironmentWith({{"GITHUB_RUN_ID", "17"},
                                     {"GITHUB_JOB", "tune"},
                                     {"GITHUB_REPOSITORY", "acme/kernels"},
                                     {"GITHUB_TOKEN", "secret"},
                                     {"CI_JOB_ID", ""}});
  EXPECT_EQ(record::ToJson(*json.Find("ci")),
            R"({"GITHUB_REPOSITORY": "acme/kernels", "GITHUB_JOB": "tune", "GITHUB_RUN_ID": "17"})");
}

TEST(Environment, IsTheSameWheneverItIsAsked) { EXPECT_EQ(EnvironmentWith({}), EnvironmentWith({})); }

}  // namespace
}  // namespace telemetry::worker::tune::recording
