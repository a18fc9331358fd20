#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace telemetry::bench {

inline constexpr uint64_t kRowsPerRun = 1000;
inline constexpr uint64_t kRowsPerKernel = 1'000'000;

// Returns the name of the kernel that has this row: matmul_0 has the first kRowsPerKernel rows.
std::string KernelOfRow(uint64_t row);

// Adds the measurements from `first_row` to before `end_row` to a SQLite file or a PostgreSQL database: runs of
// kRowsPerRun rows with one complete attempt, two rows per config. Equal arguments yield equal rows. first_row must be
// a multiple of kRowsPerRun, and the dataset must contain the rows before it.
absl::Status BuildDataset(const std::string& db, uint64_t first_row, uint64_t end_row);

}  // namespace telemetry::bench
