#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "tests/bench/bench_ingest/workload.h"

namespace telemetry::bench {

// The whole way: producers with their spools (threads of this process, a connection each), gRPC over loopback, a
// collector process with a new database, or several with one. A producer that fails or a refused record ends the
// program.

// The load of a throughput measurement.
struct Throughput {
  uint64_t rows = 0;
  int producers = 1;   // at most Workload::kRuns, which share the runs among them
  int collectors = 1;  // producers are dealt out to them in turn
  std::string db;      // new and empty
  // Where logs go, and spools. Both must exist.
  std::string folder;
  std::string spool_folder;
  // Seconds of CPU that the database's server has used so far, where there is one.
  std::function<double()> server_cpu_s = [] { return 0.0; };
};

// From the first Append until the last row is acknowledged.
struct ThroughputResult {
  double rows_per_s = 0;
  // Seconds of CPU meanwhile.
  double collectors_cpu_s = 0;
  double producers_cpu_s = 0;
  double server_cpu_s = 0;
};

ThroughputResult MeasureThroughput(const Workload& workload, const Throughput& options);

// The result of a measurement at a fixed rate.
struct PacedResult {
  double rows_per_s = 0;
  double p50_ms = 0;  // from before Append until the producer knows that the row is stored
  double p99_ms = 0;
  double cpu_cores = 0;  // the collector's
  double rss_mib = 0;    // the collector's largest
};

// Eight producers that append row by row at a rate of `rows_per_s` together, to one collector with a SQLite file. All
// files go below `folder`, which must exist.
PacedResult MeasurePaced(const Workload& workload, double rows_per_s, double seconds, const std::string& folder);

}  // namespace telemetry::bench
