#pragma once

#include <CLI/CLI.hpp>

#include "server/commands/command_line.h"

// Functions that add the commands with their flags; each group of flags has its own file.
namespace telemetry::collector {

// Adds `serve`.
void AddServe(CLI::App& app, CommandLine& line);
// Adds the flags of serve that bound memory, time and sizes.
void AddLimits(CLI::App* serve, Limits& limits);
// Adds the flag of serve for the free space to keep on the dataset's disk.
void AddDisk(CLI::App* serve, CommandLine& line);
// The flags of `serve` and `prune` that say how long and how much to keep.
struct KeepFlags {
  CLI::Option* age;
  CLI::Option* bytes;
  CLI::Option* rejects;
};
KeepFlags AddKeep(CLI::App* command, storage::PruneRules& rules);
// Returns the reason why serve must refuse this command line, or an empty string if it is accepted.
std::string WhyNotServe(const CommandLine& line);

// Adds `check`, `stats`, `backup`, `restore`, `copy`, `migrate` and `prune`.
void AddMaintenance(CLI::App& app, CommandLine& line);

// Adds `delete`.
void AddDelete(CLI::App& app, DeleteFlags& flags);

// Adds `token add`, `token list` and `token revoke`.
void AddTokens(CLI::App& app, TokenFlags& flags);
// Adds `tls init`.
void AddTls(CLI::App& app, TlsInitFlags& flags);
// Returns a validator that accepts the texts that ParseLifetime accepts, and an empty text.
CLI::Validator LifetimeCheck();

}  // namespace telemetry::collector
