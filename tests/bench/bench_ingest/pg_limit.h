#pragma once

#include <cstdint>
#include <string>

#include "tests/bench/bench_ingest/workload.h"

namespace telemetry::bench {

// Measure the rate of a PostgreSQL server without a collector, through psql and one connection: the workload's rows,
// with the keys that they have in the dataset, are already in files. Each function creates the dataset's schema in a
// database of its own on `server` and writes its files below `folder`. Returns rows per second; ends the program if
// psql fails.

// Loads all rows with psql's \copy, one command per table.
double MeasureCopy(const Workload& workload, uint64_t rows, const std::string& server, const std::string& folder);

// Loads the first `rows` measurements with one INSERT and one transaction each, into a dataset that already contains
// all other rows.
double MeasureInserts(const Workload& workload, uint64_t rows, const std::string& server, const std::string& folder);

}  // namespace telemetry::bench
