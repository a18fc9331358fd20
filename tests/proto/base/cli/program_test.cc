#include "proto/base/cli/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace telemetry::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// A command that succeeds for the mode "good", is wrong usage for "odd" and fails for any other mode.
class ServeCommand final : public Command {
 public:
  ServeCommand()
      : Command(
            {.name = "serve", .summary = "Serve", .examples = "  program serve --mode good\n", .notes = "A note."}) {}

  void AddFlags(Flags& flags) override {
    flags.Add("mode", mode_, "The mode");
    flags.Add("log-file", log_file_, "The log");
  }
  absl::Status Check() override {
    return mode_ == "odd" ? absl::InvalidArgumentError("an odd mode") : absl::OkStatus();
  }
  absl::StatusOr<int> Run() override {
    if (mode_ != "good") return absl::NotFoundError("no mode '" + mode_ + "'");
    return kExitDone;
  }

 private:
  std::string mode_ = "good";
  std::string log_file_;
};

class AddCommand final : public Command {
 public:
  AddCommand() : Command({.name = "add", .summary = "Add", .examples = "  program token add\n"}) {}
  void AddFlags(Flags& /*flags*/) override {}
  absl::StatusOr<int> Run() override { return 7; }
};

std::unique_ptr<Command> NewToken() {
  return std::make_unique<CommandGroup>(Help{.name = "token", .summary = "Tokens"},
                                        std::vector<NewCommand>{New<AddCommand>});
}

constexpr NewCommand kProgramCommands[] = {New<ServeCommand>, NewToken};

class ProgramTest : public testing::Test {
 protected:
  // Runs the program. `output_` is the text that it prints.
  int Run(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "program");
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int exit_status = RunProgram(program_, static_cast<int>(arguments.size()), arguments.data());
    output_ = testing::internal::GetCapturedStdout() + testing::internal::GetCapturedStderr();
    return exit_status;
  }

  Program program_ = {.name = "program", .summary = "A program", .notes = "Notes.", .commands = kProgramCommands};
  std::string output_;
};

TEST_F(ProgramTest, RunsTheSelectedCommand) {
  EXPECT_EQ(Run({"serve"}), kExitDone);
  EXPECT_EQ(Run({"token", "add"}), 7);
}

TEST_F(ProgramTest, DistinguishesFailureFromWrongUsage) {
  EXPECT_EQ(Run({"serve", "--mode", "bad"}), kExitFailed);
  EXPECT_EQ(output_, "program: no mode 'bad'\n");
  EXPECT_EQ(Run({"serve", "--mode", "odd"}), kExitUsage);
  EXPECT_THAT(output_, HasSubstr("an odd mode\nRun with --help"));
  EXPECT_EQ(Run({}), kExitUsage);
  EXPECT_EQ(Run({"token"}), kExitUsage);
}

TEST_F(ProgramTest, LetsTheProgramPrintErrors) {
  program_.fail = [](const absl::Status& error) { return absl::IsNotFound(error) ? 5 : 6; };
  EXPECT_EQ(Run({"serve", "--mode", "bad"}), 5);
  EXPECT_EQ(output_, "");
}

TEST_F(ProgramTest, ReadsFlagsFromTheEnvironment) {
  ASSERT_EQ(setenv("PROGRAM_MODE", "bad", 1), 0);
  EXPECT_EQ(Run({"serve"}), kExitFailed);
  EXPECT_EQ(Run({"serve", "--mode", "good"}), kExitDone);
  ASSERT_EQ(unsetenv("PROGRAM_MODE"), 0);
}

TEST_F(ProgramTest, TakesTheNextArgumentForAnEmptyValueUnlessToldOtherwise) {
  EXPECT_EQ(Run({"serve", "--log-file=", "--mode", "good"}), kExitUsage);
  program_.empty_values = true;
  EXPECT_EQ(Run({"serve", "--log-file=", "--mode", "good"}), kExitDone);
}

TEST_F(ProgramTest, EachCommandHasItsOwnExamples) {
  EXPECT_EQ(Run({"--help"}), kExitDone);
  EXPECT_THAT(output_, HasSubstr("Examples:\n  program serve --mode good\n  program token add\n\nNotes."));
  EXPECT_EQ(Run({"serve", "--help"}), kExitDone);
  EXPECT_THAT(output_, AllOf(HasSubstr("(Env:PROGRAM_LOG_FILE)"),
                             HasSubstr("Examples:\n  program serve --mode good\n\nA note."), Not(HasSubstr("token"))));
  EXPECT_EQ(Run({"token", "--help"}), kExitDone);
  EXPECT_THAT(output_, HasSubstr("Examples:\n  program token add\n"));
}

}  // namespace
}  // namespace telemetry::cli
