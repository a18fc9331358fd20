#pragma once

#include <cstdint>
#include <string>

#include "tests/bench/bench_ingest/workload.h"

namespace telemetry::bench {

// Measurements of a PostgreSQL server without a collector: psql loads the workload's rows, with the keys that they have
// in the dataset, from prepared files over one connection. Each function creates a database with the dataset's schema
// on `server`, writes its files below `folder`, and returns rows per second. Both end the program if psql fails.

// Loads all rows with psql's \copy, one command per table.
double MeasureCopy(const Workload& workload, uint64_t rows, const std::string& server, const std::string& folder);

// Loads the first `rows` measurements with one INSERT and one transaction each, into a dataset that already contains
// all other rows.
double MeasureInserts(const Workload& workload, uint64_t rows, const std::string& server, const std::string& folder);

}  // namespace telemetry::bench
