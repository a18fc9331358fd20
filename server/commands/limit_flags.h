#pragma once

#include "proto/base/cli/flags.h"
#include "server/call/limits.h"

namespace telemetry::commands {

// Adds the flags of `serve` that bound memory, time and sizes. --help hides them, --help-all shows them.
void AddLimitFlags(cli::Flags& flags, call::Limits& limits);

}  // namespace telemetry::commands
