#include "tests/bench/bench_ingest/over_postgresql.h"

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "tests/bench/bench_ingest/bench_database.h"
#include "tests/bench/bench_ingest/ingest_runs.h"
#include "tests/bench/bench_ingest/pg_limit.h"
#include "tests/bench/bench_ingest/scratch.h"
#include "tests/bench/bench_ingest/server_cpu.h"
#include "tests/bench/bench_ingest/workload.h"
#include "tests/bench/median.h"

namespace telemetry::bench {
namespace {

// INSERTs are so slow that a part of the rows is enough to measure their rate.
constexpr uint64_t kMostInserts = 2000;

struct EndToEnd {
  int collectors = 0;
  int producers = 0;
  ThroughputResult median;
};

struct Measured {
  double copy_rows_per_s = 0;
  double insert_rows_per_s = 0;
  std::vector<EndToEnd> end_to_end;
};

// Returns the round with the median rows per second.
ThroughputResult MedianRound(std::vector<ThroughputResult> rounds) {
  std::sort(rounds.begin(), rounds.end(),
            [](const ThroughputResult& a, const ThroughputResult& b) { return a.rows_per_s < b.rows_per_s; });
  return rounds[rounds.size() / 2];
}

ThroughputResult MeasureOnce(const Workload& workload, const IngestArguments& arguments, const EndToEnd& what,
                             const ServerCpu& server_cpu) {
  const Scratch scratch(arguments.dir);
  const Scratch spools(arguments.spool_dir);
  const BenchDatabase database(arguments.db);
  return MeasureThroughput(workload, {.rows = arguments.rows,
                                      .producers = what.producers,
                                      .collectors = what.collectors,
                                      .db = database.url(),
                                      .folder = scratch.path(),
                                      .spool_folder = spools.path(),
                                      .server_cpu_s = [&] { return server_cpu.Seconds(); }});
}

// Measures every variant once per round, so that a slow phase of a shared machine affects all of them alike.
Measured MeasureAll(const IngestArguments& arguments) {
  const Workload workload;
  const ServerCpu server_cpu(arguments.db);
  Measured measured;
  for (const int collectors : arguments.collectors) {
    for (const int producers : arguments.producers) {
      measured.end_to_end.push_back({.collectors = collectors, .producers = producers, .median = {}});
    }
  }
  std::vector<double> copies;
  std::vector<double> inserts;
  std::vector<std::vector<ThroughputResult>> runs(measured.end_to_end.size());
  for (int round = 0; round < arguments.rounds; ++round) {
    if (!arguments.json) std::fprintf(stderr, "round %d of %d\n", round + 1, arguments.rounds);
    {
      const Scratch files(arguments.spool_dir);
      copies.push_back(MeasureCopy(workload, arguments.rows, arguments.db, files.path()));
    }
    {
      const Scratch files(arguments.spool_dir);
      inserts.push_back(MeasureInserts(workload, std::min(arguments.rows, kMostInserts), arguments.db, files.path()));
    }
    for (size_t i = 0; i < runs.size(); ++i) {
      runs[i].push_back(MeasureOnce(workload, arguments, measured.end_to_end[i], server_cpu));
    }
  }
  measured.copy_rows_per_s = Median(copies);
  measured.insert_rows_per_s = Median(inserts);
  for (size_t i = 0; i < runs.size(); ++i) measured.end_to_end[i].median = MedianRound(runs[i]);
  return measured;
}

void PrintText(const IngestArguments& arguments, const Measured& measured) {
  std::printf("psql \\copy                         %9.0f rows/s\n", measured.copy_rows_per_s);
  std::printf("single INSERTs                     %9.0f rows/s   %.3f of \\copy\n", measured.insert_rows_per_s,
              measured.insert_rows_per_s / measured.copy_rows_per_s);
  const double us = 1e6 / static_cast<double>(arguments.rows);
  for (const EndToEnd& run : measured.end_to_end) {
    const ThroughputResult& median = run.median;
    std::printf(
        "%2d collector(s), %2d producer(s)    %9.0f rows/s   %.2f of \\copy   CPU a row: server %.1f us, collectors "
        "%.1f us, producers %.1f us\n",
        run.collectors, run.producers, median.rows_per_s, median.rows_per_s / measured.copy_rows_per_s,
        median.server_cpu_s * us, median.collectors_cpu_s * us, median.producers_cpu_s * us);
  }
}

void PrintJson(const Measured& measured) {
  const std::string runs = absl::StrJoin(measured.end_to_end, ", ", [&](std::string* out, const EndToEnd& run) {
    const ThroughputResult& median = run.median;
    absl::StrAppendFormat(out,
                          "{\"collectors\": %d, \"producers\": %d, \"rows_per_s\": %.0f, \"ratio\": %.3f, "
                          "\"server_cpu_s\": %.2f, \"collectors_cpu_s\": %.2f, \"producers_cpu_s\": %.2f}",
                          run.collectors, run.producers, median.rows_per_s,
                          median.rows_per_s / measured.copy_rows_per_s, median.server_cpu_s, median.collectors_cpu_s,
                          median.producers_cpu_s);
  });
  std::printf("{\"copy_rows_per_s\": %.0f, \"insert_rows_per_s\": %.0f, \"end_to_end\": [%s]}\n",
              measured.copy_rows_per_s, measured.insert_rows_per_s, runs.c_str());
}

}  // namespace

absl::Status BenchOverPostgresql(const IngestArguments& arguments) {
  const Measured measured = MeasureAll(arguments);
  arguments.json ? PrintJson(measured) : PrintText(arguments, measured);
  return absl::OkStatus();
}

}  // namespace telemetry::bench
