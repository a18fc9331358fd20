#pragma once

#include "absl/status/status.h"
#include "tests/bench/bench_ingest/ingest_arguments.h"

namespace telemetry::bench {

// Measures the ingest path into a collector that serves already, once, and prints the results. The rows stay in its
// dataset.
absl::Status BenchOverCollector(const IngestArguments& arguments);

}  // namespace telemetry::bench
