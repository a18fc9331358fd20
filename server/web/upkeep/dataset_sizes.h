#pragma once

#include "absl/status/statusor.h"
#include "server/storage/sql/database.h"
#include "server/web/server_state.h"

namespace telemetry::web::upkeep {

// Counts the objects of a dataset. Reads an index of each table, so that it takes seconds for millions of configs.
absl::StatusOr<DatasetSizes> CountSizes(storage::sql::Database& dataset, bool is_postgresql);

}  // namespace telemetry::web::upkeep
