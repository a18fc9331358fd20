#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace telemetry::cli {

inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;

// Adds --config: a file of flags. Without the flag the file is the one that the environment variable names. A file that
// is not there, or that holds something else than the program's flags, is wrong usage.
void AddConfigFlag(CLI::App* app, const std::string& environment_name);

// For a flag that says nothing when it is empty.
CLI::Validator NotEmpty();

// Prints what ended the parsing, help or error, and returns the exit status: 0 after --help and --version, else
// kExitUsage.
int ExitAfterParse(const CLI::App& app, const CLI::ParseError& error);

}  // namespace telemetry::cli
