#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace telemetry::cli {

inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;

// Adds --config: a file of flags. Without the flag the file is the one that the environment variable names. A file that
// is not there, or that holds something else than the program's flags, is wrong usage.
void AddConfigFlag(CLI::App* app, const std::string& environment_name);

// For a flag that says nothing when it is empty.
CLI::Validator NotEmpty();

// Sets the footers of a program with commands: all of `examples` for the program, and for each command its own ones,
// the lines "  PROGRAM COMMAND ...". A line that is indented further continues the one before. `notes` follow the
// examples of the program. All commands have been added.
void SetExamples(CLI::App& app, const std::string& examples, const std::string& notes);

// Leaves these groups of flags (CLI::Option::group) out of --help of a command, and adds --help-all, which prints all.
void HideGroups(CLI::App& command, const std::vector<std::string>& groups);

// Prints what ended the parsing, help or error, and returns the exit status: 0 after --help and --version, else
// kExitUsage.
int ExitAfterParse(const CLI::App& app, const CLI::ParseError& error);

}  // namespace telemetry::cli
