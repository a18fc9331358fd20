#pragma once

#include <cstdint>
#include <string>

#include "tests/bench/bench_ingest/workload.h"

namespace telemetry::bench {

// Measure the rate of a PostgreSQL server without a collector, through psql and one connection: the workload's rows,
// with the keys that they have in the dataset, are already in files. Each function creates the dataset's schema in a
// database of its own on `server` and writes its files below `folder`. Returns rows per second; ends the program if
// psql fails.

// psql's \copy, one for each table.
double MeasureCopy(const Workload& workload, uint64_t rows, const std::string& server, const std::string& folder);

// An INSERT for each of the first `rows` measurements, each a transaction, into a dataset that has all else.
double MeasureInserts(const Workload& workload, uint64_t rows, const std::string& server, const std::string& folder);

}  // namespace telemetry::bench
