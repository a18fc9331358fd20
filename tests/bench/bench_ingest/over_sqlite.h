#pragma once

#include "absl/status/status.h"
#include "tests/bench/bench_ingest/ingest_arguments.h"

namespace telemetry::bench {

// Measures the complete ingest path into a SQLite file, compares it with SQLite alone, and prints the results.
absl::Status BenchOverSqlite(const IngestArguments& arguments);

}  // namespace telemetry::bench
