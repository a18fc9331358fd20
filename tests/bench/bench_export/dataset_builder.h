#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace telemetry::bench {

// Makes a database of `rows` measurements: runs of 1,000 rows, two rows per config. The same rows at every call.
absl::Status BuildDataset(const std::string& path, uint64_t rows);

}  // namespace telemetry::bench
