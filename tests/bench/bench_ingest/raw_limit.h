#pragma once

#include <cstdint>
#include <string>

#include "tests/bench/bench_ingest/workload.h"

namespace telemetry::bench {

// Returns the rows per second of SQLite alone: inserts the workload's rows into a new database at `path` with the
// collector's schema and pragmas, using one thread, prepared statements and 1,000 rows per transaction. Ends the
// program if SQLite fails.
double MeasureRawLimit(const Workload& workload, uint64_t rows, const std::string& path);

}  // namespace telemetry::bench
