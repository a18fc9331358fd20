#include "proto/base/cli/usage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "proto/base/cli/command.h"

namespace telemetry::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

// A program with a command, like all programs here.
class UsageTest : public testing::Test {
 protected:
  UsageTest() {
    app_.require_subcommand(1);
    CLI::App* serve = app_.add_subcommand("serve");
    serve->add_option("--listen", value_);
    serve->add_option("db", value_)->required();
    app_.add_subcommand("stats");
  }

  // Returns the error message for a command line. The arguments are in reverse order, as CLI11 expects.
  std::string Said(std::vector<std::string> arguments) {
    testing::internal::CaptureStderr();
    try {
      app_.parse(std::move(arguments));
      ADD_FAILURE() << "it was understood";
    } catch (const CLI::ParseError& error) {
      EXPECT_EQ(ExitAfterParse(app_, error), kExitUsage);
    }
    return testing::internal::GetCapturedStderr();
  }

  CLI::App app_{"A program", "program"};
  std::string value_;
};

TEST_F(UsageTest, AMisspeltFlagIsRecognised) {
  EXPECT_THAT(Said({"--listn", "x.db", "serve"}), HasSubstr("--listn is unknown; is --listen meant?"));
  EXPECT_THAT(Said({"--listn=1", "x.db", "serve"}), HasSubstr("is --listen meant?"));
  EXPECT_THAT(Said({"--listn", "serve"}), HasSubstr("is --listen meant?"));
}

TEST_F(UsageTest, AMisspeltCommandIsRecognised) {
  EXPECT_THAT(Said({"srve"}), HasSubstr("srve is unknown; is serve meant?"));
}

TEST_F(UsageTest, NothingIsSuggestedForAnotherWord) {
  EXPECT_THAT(Said({"--colour", "x.db", "serve"}), Not(HasSubstr("meant?")));
}

TEST_F(UsageTest, HiddenGroupsAreShownOnDemand) {
  CLI::App* serve = app_.get_subcommand("serve");
  serve->add_option("--most", value_)->group("Limits");
  HideGroups(*serve, {"Limits"});
  EXPECT_THAT(serve->help(), testing::AllOf(HasSubstr("--listen"), HasSubstr("--help-all"), Not(HasSubstr("--most"))));
  EXPECT_THAT(serve->help("", CLI::AppFormatMode::All), testing::AllOf(HasSubstr("--listen"), HasSubstr("--most")));
}

}  // namespace
}  // namespace telemetry::cli
