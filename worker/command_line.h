#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/base/cli/flags.h"

namespace telemetry::worker {

// Returns the default --state-dir of a command: autotune-telemetry/COMMAND below $XDG_STATE_HOME, else below
// ~/.local/state, or below /var/tmp if HOME is not set either.
std::string DefaultStateDir(const std::string& command);

// Parses the value of a duration flag. Returns INVALID_ARGUMENT, with the flag's name and examples of durations, if
// `text` is not a duration or is negative.
absl::StatusOr<absl::Duration> ParseDuration(const std::string& flag, const std::string& text);

// Adds a flag --NAME that may be repeated, each time with one NAME=VALUE.
CLI::Option* AddPairs(cli::Flags& flags, const std::string& name, std::vector<std::string>& values,
                      const std::string& help);

// Adds the argument KERNEL, a kernel of the library.
void AddKernel(cli::Flags& flags, std::string& kernel);
// Adds the argument KERNEL and --spec, of which exactly one is given (CheckKernelOrSpec).
void AddKernelOrSpec(cli::Flags& flags, std::string& kernel, std::string& spec);
// INVALID_ARGUMENT: both or none are given.
absl::Status CheckKernelOrSpec(const std::string& kernel, const std::string& spec);

// Adds --arg, the arguments of the kernel.
void AddArguments(cli::Flags& flags, std::vector<std::string>& arguments);

}  // namespace telemetry::worker
