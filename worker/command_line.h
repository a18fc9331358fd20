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

// Command-line helpers that the commands of telemetry-worker share.

// Returns the arguments in the order that CLI11 expects: last argument first, without the program's name. Splits
// "--name=" into the flag and an empty value, because CLI11 would otherwise use the next argument as the value.
std::vector<std::string> ArgumentsOf(int argc, const char* const* argv);

// Returns an empty string if the variable is not set.
std::string EnvironmentVariable(const char* name);

// Returns the default --state-dir of a command: autotune-telemetry/COMMAND below $XDG_STATE_HOME, else below
// ~/.local/state, or below /var/tmp if HOME is not set either.
std::string DefaultStateDir(const std::string& command);

// Parses the value of a duration flag. Returns INVALID_ARGUMENT, with the flag's name and examples of durations, if
// `text` is not a duration or is negative.
absl::StatusOr<absl::Duration> DurationOf(const std::string& flag, const std::string& text);

// Returns the environment variable of a flag: TELEMETRY_WORKER_STATE_DIR for "state-dir".
std::string VariableOf(const std::string& flag);

// Adds a flag with a value. `name` begins with "--". The environment variable VariableOf(name) sets the flag, too.
template <typename Value>
CLI::Option* AddOption(CLI::App* command, const std::string& name, Value& value, const std::string& help) {
  return command->add_option(name, value, help)->envname(VariableOf(name.substr(2)))->capture_default_str();
}

// Adds the flags of the credentials that the program sends to a collector; the token can also come from
// TELEMETRY_TOKEN. Commands call access::Connection::Check before they start their work, to reject unusable credentials
// early.
void AddCredentialFlags(CLI::App* command, access::Credentials* credentials);

}  // namespace telemetry
