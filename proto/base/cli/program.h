#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "proto/base/cli/command.h"

namespace telemetry::cli {

// A program and its commands.
struct Program {
  std::string name;
  std::string summary;
  // The end of --help, below the examples of all commands. Empty: --help shows neither.
  std::string notes;
  std::string config_help = "Read flags from this file";
  // Accepts "--flag=" as an empty value. Otherwise CLI11 uses the next argument as the value.
  bool empty_values = false;
  // In the order of --help. Must outlive the program. A command without a name must be the only one.
  absl::Span<const NewCommand> commands;
  // Prints the error of a command and returns the exit status. Unset: prints "NAME: ERROR", returns kExitFailed.
  int (*fail)(const absl::Status& error) = nullptr;
};

// Parses the command line, the environment and the file of --config, and runs the selected command. Prints help, wrong
// usage and errors. Returns the exit status.
int RunProgram(const Program& program, int argc, const char* const* argv);

}  // namespace telemetry::cli
