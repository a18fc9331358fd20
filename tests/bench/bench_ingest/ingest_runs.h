#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "tests/bench/bench_ingest/workload.h"

namespace telemetry::bench {

// Measurements of the complete ingest path: producers with spools (threads of this process, one connection each), gRPC
// over loopback, and one collector process with a new database, or several that share one. The program ends if a
// producer fails or a record is refused.

// The load of a throughput measurement.
struct Throughput {
  uint64_t rows = 0;
  int producers = 1;   // at most Workload::kRuns; the runs are divided among the producers
  int collectors = 1;  // producers are assigned to collectors round-robin
  std::string db;      // a new and empty database
  // The address of a collector that serves already; empty: collectors are started.
  std::string address;
  uint64_t first_attempt = 0;  // of each run
  // The folders of the logs and of the spools. Both must exist.
  std::string folder;
  std::string spool_folder;
  // Returns the CPU time that the database server has used so far, in seconds; 0 if there is no server.
  std::function<double()> server_cpu_s = [] { return 0.0; };
};

// The rate from the first Append until the last row is acknowledged.
struct ThroughputResult {
  double rows_per_s = 0;
  // CPU time used during the measurement, in seconds.
  double collectors_cpu_s = 0;
  double producers_cpu_s = 0;
  double server_cpu_s = 0;
};

ThroughputResult MeasureThroughput(const Workload& workload, const Throughput& options);

// The result of a measurement at a fixed rate.
struct PacedResult {
  double rows_per_s = 0;
  double p50_ms = 0;  // from the call of Append until the producer learns that the row is committed
  double p99_ms = 0;
  double cpu_cores = 0;  // CPU cores that the collector keeps busy on average
  double rss_mib = 0;    // peak resident memory of the collector
};

// The load of a measurement at a fixed rate.
struct Paced {
  double rows_per_s = 0;
  double seconds = 0;
  std::string folder;  // of all files; must exist
  // The address of a collector that serves already, whose CPU time and memory are not measured; empty: one is started
  // with a SQLite file.
  std::string address;
  uint64_t first_attempt = 0;  // of each run
};

// Runs eight producers that append single rows at this total rate to one collector.
PacedResult MeasurePaced(const Workload& workload, const Paced& options);

}  // namespace telemetry::bench
