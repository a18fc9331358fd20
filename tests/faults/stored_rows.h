#pragma once

#include <cstdint>

#include "server/storage/sql/database.h"

namespace telemetry::faults {

// The dataset has at least rows 1 to `count` of a producer of the ledger, each as it was sent, and none twice.
void ExpectRowsIn(storage::Database& dataset, int number, uint64_t count);

}  // namespace telemetry::faults
