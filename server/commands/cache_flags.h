#pragma once

#include "proto/base/cli/flags.h"
#include "server/storage/cache_put.h"
#include "server/storage/model_change.h"

namespace telemetry::commands {

// Adds the flags of `serve` that limit the cache.
void AddCacheFlags(cli::Flags& flags, storage::CacheBudget& budget);
// Adds the flags of `serve` that limit the stored cost models.
void AddModelFlags(cli::Flags& flags, storage::ModelBudget& budget);

}  // namespace telemetry::commands
