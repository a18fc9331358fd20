#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "server/storage/sql/database.h"
#include "server/web/server_state.h"

namespace telemetry::web::api {

// Returns a SummaryEvent of openapi.yaml. `run_id`: the run that it describes; empty: none. `scratch` must be in a read
// transaction.
absl::StatusOr<std::string> MakeSummaryEvent(storage::sql::Database& scratch, const ServerState& state,
                                             const std::string& run_id);

}  // namespace telemetry::web::api
