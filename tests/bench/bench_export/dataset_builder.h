#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace telemetry::bench {

// Creates a database of `rows` measurements: runs of 1,000 rows, with two rows per config. Every call creates the same
// rows.
absl::Status BuildDataset(const std::string& path, uint64_t rows);

}  // namespace telemetry::bench
