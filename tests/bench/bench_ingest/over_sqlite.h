#pragma once

#include "absl/status/status.h"
#include "tests/bench/bench_ingest/ingest_arguments.h"

namespace telemetry::bench {

// Measures the whole way into a SQLite file against what SQLite takes alone, and prints it.
absl::Status BenchOverSqlite(const IngestArguments& arguments);

}  // namespace telemetry::bench
