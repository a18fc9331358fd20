#include "tests/bench/bench_ingest/over_collector.h"

#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "tests/bench/bench_ingest/ingest_runs.h"
#include "tests/bench/bench_ingest/scratch.h"
#include "tests/bench/bench_ingest/workload.h"

namespace telemetry::bench {

absl::Status BenchOverCollector(const IngestArguments& arguments) {
  const Workload workload;
  uint64_t attempt = arguments.first_attempt;
  std::vector<std::string> runs;
  for (const int producers : arguments.producers) {
    const Scratch scratch(arguments.dir);
    const Scratch spools(arguments.spool_dir);
    const ThroughputResult result = MeasureThroughput(workload, {.rows = arguments.rows,
                                                                 .producers = producers,
                                                                 .address = arguments.collector,
                                                                 .first_attempt = attempt,
                                                                 .folder = scratch.path(),
                                                                 .spool_folder = spools.path()});
    runs.push_back(absl::StrFormat("{\"producers\": %d, \"rows_per_s\": %.0f}", producers, result.rows_per_s));
    attempt += arguments.rows / Workload::kRowsPerAttempt / Workload::kRuns + 1;
  }
  const Scratch scratch(arguments.dir);
  const PacedResult paced = MeasurePaced(workload, {.rows_per_s = kPacedRowsPerS,
                                                    .seconds = arguments.seconds,
                                                    .folder = scratch.path(),
                                                    .address = arguments.collector,
                                                    .first_attempt = attempt});
  std::printf("{\"end_to_end\": [%s], \"paced\": {\"rows_per_s\": %.0f, \"p50_ms\": %.2f, \"p99_ms\": %.2f}}\n",
              absl::StrJoin(runs, ", ").c_str(), paced.rows_per_s, paced.p50_ms, paced.p99_ms);
  return absl::OkStatus();
}

}  // namespace telemetry::bench
