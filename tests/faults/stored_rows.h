#pragma once

#include <cstdint>

#include "server/storage/sql/database.h"

namespace telemetry::faults {

// Checks that the dataset contains at least rows 1 to `count` of a producer of the ledger, each unchanged and exactly
// once.
void ExpectRowsIn(storage::sql::Database& dataset, int number, uint64_t count);

}  // namespace telemetry::faults
