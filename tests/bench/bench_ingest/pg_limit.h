#pragma once

#include <cstdint>
#include <string>

#include "tests/bench/bench_ingest/workload.h"

namespace telemetry::bench {

// What a PostgreSQL server takes without a collector, through psql: the workload's rows with the keys that they have in
// the dataset, already in files, one connection. Each makes the dataset's schema in a database of its own on `server`.
// Files go below `folder`. Rows per second; ends the program when psql fails.

// psql's \copy, one for each table.
double MeasureCopy(const Workload& workload, uint64_t rows, const std::string& server, const std::string& folder);

// An INSERT for each of the first `rows` measurements, each a transaction, into a dataset that has all else.
double MeasureInserts(const Workload& workload, uint64_t rows, const std::string& server, const std::string& folder);

}  // namespace telemetry::bench
