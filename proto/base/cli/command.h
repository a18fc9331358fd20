#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/base/cli/flags.h"

namespace telemetry::cli {

// The exit statuses of every program.
inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;

// The texts of a command's --help. The examples and the notes stand below the flags.
struct Help {
  std::string name;  // empty: the command is the entire program
  std::string summary;
  std::string examples;  // indented lines, each with its line feed
  std::string notes;     // without a line feed at the end
};

class Command;

// A function that creates a command.
using NewCommand = std::unique_ptr<Command> (*)();

// Creates a command of the class `Derived`.
template <typename Derived>
std::unique_ptr<Command> New() {
  return std::make_unique<Derived>();
}

// A command of a program. The members of a derived class are the values of its flags.
class Command {
 public:
  explicit Command(Help help) : help_(std::move(help)) {}
  virtual ~Command() = default;
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  const Help& help() const { return help_; }
  // Returns the commands of a group. Empty for a command that runs itself.
  virtual std::vector<NewCommand> commands() const { return {}; }

  virtual void AddFlags(Flags& flags) = 0;
  // Checks the values of the flags against each other. An error is wrong usage.
  virtual absl::Status Check() { return absl::OkStatus(); }
  // Does the work. Returns the exit status, or an error that the program has to print.
  virtual absl::StatusOr<int> Run() = 0;

 private:
  const Help help_;
};

// A command that consists of commands, such as `token` of `token add` and `token list`.
class CommandGroup final : public Command {
 public:
  CommandGroup(Help help, std::vector<NewCommand> commands)
      : Command(std::move(help)), commands_(std::move(commands)) {}

  std::vector<NewCommand> commands() const override { return commands_; }
  void AddFlags(Flags& /*flags*/) override {}
  absl::StatusOr<int> Run() override { return absl::InternalError("a group of commands does nothing itself"); }

 private:
  const std::vector<NewCommand> commands_;
};

}  // namespace telemetry::cli
