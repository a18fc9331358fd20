#pragma once

#include "absl/status/status.h"
#include "tests/bench/bench_ingest/ingest_arguments.h"

namespace telemetry::bench {

// Measures the whole way into a PostgreSQL server, with one collector and with several, against psql's \copy and
// against INSERTs, and prints it. The databases that it makes on the server are dropped.
absl::Status BenchOverPostgresql(const IngestArguments& arguments);

}  // namespace telemetry::bench
