#pragma once

#include <memory>

#include "proto/base/cli/command.h"

namespace telemetry::commands {

// The commands of telemetry-collector. NewServe is defined in serve_command.cc, and so on.
std::unique_ptr<cli::Command> NewServe();
std::unique_ptr<cli::Command> NewCheck();
std::unique_ptr<cli::Command> NewStats();
std::unique_ptr<cli::Command> NewBackup();
std::unique_ptr<cli::Command> NewRestore();
std::unique_ptr<cli::Command> NewCopy();
std::unique_ptr<cli::Command> NewMigrate();
std::unique_ptr<cli::Command> NewPrune();
std::unique_ptr<cli::Command> NewDelete();
std::unique_ptr<cli::Command> NewToken();
std::unique_ptr<cli::Command> NewTls();

// All of them, in the order of --help.
inline constexpr cli::NewCommand kCommands[] = {NewServe,   NewCheck, NewStats,  NewBackup, NewRestore, NewCopy,
                                                NewMigrate, NewPrune, NewDelete, NewToken,  NewTls};

}  // namespace telemetry::commands
