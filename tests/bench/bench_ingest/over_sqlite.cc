#include "tests/bench/bench_ingest/over_sqlite.h"

#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "tests/bench/bench_ingest/ingest_runs.h"
#include "tests/bench/bench_ingest/raw_limit.h"
#include "tests/bench/bench_ingest/scratch.h"
#include "tests/bench/bench_ingest/workload.h"
#include "tests/bench/median.h"

namespace telemetry::bench {
namespace {

struct EndToEnd {
  int producers = 0;
  double rows_per_s = 0;
};

struct Measured {
  double raw_rows_per_s = 0;
  std::vector<EndToEnd> end_to_end;
  PacedResult paced;

  double Ratio(const EndToEnd& run) const { return run.rows_per_s / raw_rows_per_s; }
};

// Measures every variant once per round, so that a slow phase of a shared machine affects all of them alike.
Measured MeasureAll(const IngestArguments& arguments) {
  const Workload workload;
  std::vector<double> raw;
  std::vector<std::vector<double>> runs(arguments.producers.size());
  for (int round = 0; round < arguments.rounds; ++round) {
    if (!arguments.json) std::fprintf(stderr, "round %d of %d\n", round + 1, arguments.rounds);
    {
      const Scratch scratch(arguments.dir);
      raw.push_back(MeasureRawLimit(workload, arguments.rows, scratch.path() + "/raw.db"));
    }
    for (size_t i = 0; i < runs.size(); ++i) {
      const Scratch scratch(arguments.dir);
      const Scratch spools(arguments.spool_dir);
      runs[i].push_back(MeasureThroughput(workload, {.rows = arguments.rows,
                                                     .producers = arguments.producers[i],
                                                     .db = scratch.path() + "/dataset.db",
                                                     .folder = scratch.path(),
                                                     .spool_folder = spools.path()})
                            .rows_per_s);
    }
  }
  const Scratch scratch(arguments.dir);
  Measured measured;
  measured.raw_rows_per_s = Median(raw);
  for (size_t i = 0; i < runs.size(); ++i) measured.end_to_end.push_back({arguments.producers[i], Median(runs[i])});
  measured.paced =
      MeasurePaced(workload, {.rows_per_s = kPacedRowsPerS, .seconds = arguments.seconds, .folder = scratch.path()});
  return measured;
}

void PrintText(const Measured& measured) {
  std::printf("raw limit          %9.0f rows/s\n", measured.raw_rows_per_s);
  for (const EndToEnd& run : measured.end_to_end) {
    std::printf("%3d producer(s)    %9.0f rows/s   %.2f of raw\n", run.producers, run.rows_per_s, measured.Ratio(run));
  }
  const PacedResult& paced = measured.paced;
  std::printf("paced              %9.0f rows/s   ack p50 %.1f ms, p99 %.1f ms   collector %.2f cores, %.0f MiB\n",
              paced.rows_per_s, paced.p50_ms, paced.p99_ms, paced.cpu_cores, paced.rss_mib);
}

void PrintJson(const Measured& measured) {
  const std::string runs = absl::StrJoin(measured.end_to_end, ", ", [&](std::string* out, const EndToEnd& run) {
    absl::StrAppendFormat(out, "{\"producers\": %d, \"rows_per_s\": %.0f, \"ratio\": %.3f}", run.producers,
                          run.rows_per_s, measured.Ratio(run));
  });
  const PacedResult& paced = measured.paced;
  std::printf(
      "{\"raw_rows_per_s\": %.0f, \"end_to_end\": [%s], \"paced\": {\"rows_per_s\": %.0f, \"p50_ms\": %.2f, "
      "\"p99_ms\": %.2f, \"cpu_cores\": %.3f, \"rss_mib\": %.1f}}\n",
      measured.raw_rows_per_s, runs.c_str(), paced.rows_per_s, paced.p50_ms, paced.p99_ms, paced.cpu_cores,
      paced.rss_mib);
}

}  // namespace

absl::Status BenchOverSqlite(const IngestArguments& arguments) {
  const Measured measured = MeasureAll(arguments);
  arguments.json ? PrintJson(measured) : PrintText(measured);
  return absl::OkStatus();
}

}  // namespace telemetry::bench
