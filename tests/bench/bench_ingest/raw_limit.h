#pragma once

#include <cstdint>
#include <string>

#include "tests/bench/bench_ingest/workload.h"

namespace telemetry::bench {

// Rows per second that SQLite alone takes: the workload's rows into a new database at `path` with the collector's
// schema and pragmas, one thread, prepared statements, 1,000 rows a transaction. Ends the program when SQLite fails.
double MeasureRawLimit(const Workload& workload, uint64_t rows, const std::string& path);

}  // namespace telemetry::bench
