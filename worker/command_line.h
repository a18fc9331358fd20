#pragma once

#include <CLI/CLI.hpp>
#include <cctype>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "proto/access/credentials.h"

namespace telemetry {

// What the commands of this program have in common.

// The command line as CLI11 takes it: its last argument first, without the program's name. "--name=" gives the flag an
// empty value; left as it is, CLI11 would take the next argument for its value.
std::vector<std::string> ArgumentsOf(int argc, const char* const* argv);

// Empty where it is not set.
std::string EnvironmentVariable(const char* name);

// Below XDG_STATE_HOME, or ~/.local/state.
std::string DefaultStateDir(const std::string& command);

// INVALID_ARGUMENT names the flag and shows durations.
absl::StatusOr<absl::Duration> DurationOf(const std::string& flag, const std::string& text);

// TELEMETRY_WORKER_STATE_DIR for "state-dir": the environment variable of a flag.
std::string VariableOf(const std::string& flag);

// A flag with a value, which the environment may set, too.
template <typename Value>
CLI::Option* AddOption(CLI::App* command, const std::string& name, Value& value, const std::string& help) {
  return command->add_option(name, value, help)->envname(VariableOf(name.substr(2)))->capture_default_str();
}

// The flags of what a collector is shown, and the token in TELEMETRY_TOKEN. access::Connection::Check tells before the
// work whether they are usable.
void AddCredentialFlags(CLI::App* command, access::Credentials* credentials);

}  // namespace telemetry
