#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace telemetry::bench {

// Creates a dataset of `rows` measurements in a SQLite file or an empty PostgreSQL database: runs of 1,000 rows, with
// two rows per config. Every call creates the same rows.
absl::Status BuildDataset(const std::string& db, uint64_t rows);

}  // namespace telemetry::bench
