#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "server/storage/sql/database.h"
#include "telemetry/v1/models.pb.h"

namespace telemetry::storage::readers {

// Return stored cost models. Run in the caller's read transaction. The fields of the requests are within the limits of
// models.proto.

// Returns INVALID_ARGUMENT for a page token that this function did not return.
absl::StatusOr<v1::ListModelsResponse> ListModels(sql::Database& database, const v1::ListModelsRequest& request);
// Returns NOT_FOUND if there is no such complete model or part.
absl::StatusOr<v1::ReadModelResponse> ReadModel(sql::Database& database, const v1::ReadModelRequest& request);

}  // namespace telemetry::storage::readers
