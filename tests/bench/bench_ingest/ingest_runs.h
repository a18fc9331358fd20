#pragma once

#include <cstdint>
#include <string>

#include "tests/bench/bench_ingest/workload.h"

namespace telemetry::bench {

// The whole way: producers with their spools (threads of this process, a connection each), gRPC over loopback, a
// collector process with a new database. All files go below `folder`, which must exist, spools below `spool_folder`
// where there is one. A producer that fails or a refused record ends the program.

// At most Workload::kRuns producers, which share the runs among them. Rows per second from the first Append until the
// last row is acknowledged.
double MeasureThroughput(const Workload& workload, uint64_t rows, int producers, const std::string& folder,
                         const std::string& spool_folder);

struct PacedResult {
  double rows_per_s = 0;
  double p50_ms = 0;  // from before Append until the producer knows that the row is stored
  double p99_ms = 0;
  double cpu_cores = 0;  // the collector's
  double rss_mib = 0;    // the collector's largest
};

// Eight producers that append row by row at a rate of `rows_per_s` together.
PacedResult MeasurePaced(const Workload& workload, double rows_per_s, double seconds, const std::string& folder);

}  // namespace telemetry::bench
