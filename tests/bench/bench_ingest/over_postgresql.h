#pragma once

#include "absl/status/status.h"
#include "tests/bench/bench_ingest/ingest_arguments.h"

namespace telemetry::bench {

// Measures the complete ingest path into a PostgreSQL server, with one collector and with several, compares it with
// psql's \copy and with INSERTs, and prints the results. Drops the databases that it creates on the server.
absl::Status BenchOverPostgresql(const IngestArguments& arguments);

}  // namespace telemetry::bench
