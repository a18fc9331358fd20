#pragma once

#include <CLI/CLI.hpp>

#include "server/commands/command_line.h"

// The commands with their flags, a file for each group of them.
namespace telemetry::collector {

// serve.
void AddServe(CLI::App& app, CommandLine& line);
// What of serve bounds memory, time and sizes.
void AddLimits(CLI::App* serve, Limits& limits);
// What it keeps of the dataset's disk.
void AddDisk(CLI::App* serve, CommandLine& line);
// How long and how much it keeps, and `prune`.
struct KeepFlags {
  CLI::Option* age;
  CLI::Option* bytes;
  CLI::Option* rejects;
};
KeepFlags AddKeep(CLI::App* command, storage::PruneRules& rules);
// Why what is asked for must not be served; empty: it may.
std::string WhyNotServe(const CommandLine& line);

// check, stats, backup, restore, copy, migrate, prune.
void AddMaintenance(CLI::App& app, CommandLine& line);

// delete.
void AddDelete(CLI::App& app, DeleteFlags& flags);

// token add, list, revoke.
void AddTokens(CLI::App& app, TokenFlags& flags);
// tls init.
void AddTls(CLI::App& app, TlsInitFlags& flags);
// Accepts what ParseLifetime accepts, and an empty text.
CLI::Validator LifetimeCheck();

}  // namespace telemetry::collector
