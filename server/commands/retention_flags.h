#pragma once

#include "proto/base/cli/flags.h"
#include "server/storage/prune_rules.h"

namespace telemetry::commands {

// The options of the flags that AddRetentionFlags adds.
struct RetentionOptions {
  CLI::Option* age;
  CLI::Option* bytes;
  CLI::Option* rejects;
};

// Adds the flags of `serve` and `prune` that say how long and how much to keep.
RetentionOptions AddRetentionFlags(cli::Flags& flags, storage::PruneRules& rules);

}  // namespace telemetry::commands
