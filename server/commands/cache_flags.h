#pragma once

#include "proto/base/cli/flags.h"
#include "server/storage/cache_put.h"

namespace telemetry::commands {

// Adds the flags of `serve` that limit the cache.
void AddCacheFlags(cli::Flags& flags, storage::CacheBudget& budget);

}  // namespace telemetry::commands
