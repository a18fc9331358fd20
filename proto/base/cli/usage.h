#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace telemetry::cli {

// Adds --config FILE, a file of flags. Without the flag, the environment variable names the file. A file that is
// missing, or that contains anything but flags of the program, is wrong usage.
void AddConfigFlag(CLI::App& app, const std::string& environment_name, const std::string& help);

// Hides these groups of flags (CLI::Option::group) from a command's --help, and adds --help-all, which prints all
// flags.
void HideGroups(CLI::App& command, const std::vector<std::string>& groups);

// Prints the help or the error that ended the parsing. Returns the exit status: 0 after --help and --version, else
// kExitUsage.
int ExitAfterParse(const CLI::App& app, const CLI::ParseError& error);

}  // namespace telemetry::cli
