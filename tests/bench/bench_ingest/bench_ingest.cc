// How fast rows get into a dataset, against what SQLite does alone. See README.md beside this file.

#include <stdlib.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "tests/bench/bench_ingest/ingest_runs.h"
#include "tests/bench/bench_ingest/raw_limit.h"
#include "tests/bench/bench_ingest/workload.h"
#include "tests/bench/bench_main.h"
#include "tests/bench/median.h"

namespace telemetry::bench {
namespace {

constexpr double kPacedRowsPerS = 10000;

struct Arguments {
  uint64_t rows = 1000000;
  std::vector<int> producers = {1, 8, 64};
  std::string dir = std::filesystem::temp_directory_path().string();
  std::string spool_dir = "/dev/shm";
  int rounds = 3;
  double seconds = 10;
  bool json = false;
};

struct EndToEnd {
  int producers = 0;
  double rows_per_s = 0;
};

// A folder for one measurement, removed behind it so that the next one finds the disk as this one did.
class Scratch {
 public:
  explicit Scratch(const std::string& dir) : path_(dir + "/bench-ingest-XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) {
      std::fprintf(stderr, "cannot make a folder in %s; name another with --dir or --spool-dir\n", dir.c_str());
      std::exit(1);
    }
  }
  ~Scratch() { std::filesystem::remove_all(path_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct Measured {
  double raw_rows_per_s = 0;
  std::vector<EndToEnd> end_to_end;
  PacedResult paced;

  double Ratio(const EndToEnd& run) const { return run.rows_per_s / raw_rows_per_s; }
};

// Each round measures everything once, so that a slow minute of a shared machine falls on all alike.
Measured MeasureAll(const Arguments& arguments) {
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
      runs[i].push_back(
          MeasureThroughput(workload, arguments.rows, arguments.producers[i], scratch.path(), spools.path()));
    }
  }
  const Scratch scratch(arguments.dir);
  Measured measured;
  measured.raw_rows_per_s = Median(raw);
  for (size_t i = 0; i < runs.size(); ++i) measured.end_to_end.push_back({arguments.producers[i], Median(runs[i])});
  measured.paced = MeasurePaced(workload, kPacedRowsPerS, arguments.seconds, scratch.path());
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

absl::Status Run(const Arguments& arguments) {
  const Measured measured = MeasureAll(arguments);
  arguments.json ? PrintJson(measured) : PrintText(measured);
  return absl::OkStatus();
}

void AddFlags(CLI::App& app, Arguments& arguments) {
  app.add_option("--rows", arguments.rows, "Rows of each measurement")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--producers", arguments.producers, "How many at once, one measurement each")
      ->delimiter(',')
      ->capture_default_str()
      ->check(CLI::Range(1, Workload::kRuns));
  app.add_option("--dir", arguments.dir, "Where databases go meanwhile, and the spools of the paced measurement")
      ->capture_default_str();
  app.add_option("--spool-dir", arguments.spool_dir, "Where all other spools go: not on the databases' disk")
      ->capture_default_str();
  app.add_option("--rounds", arguments.rounds, "Measure each so often, in turn; the medians are printed")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--seconds", arguments.seconds, "Length of the paced measurement")->capture_default_str();
  app.add_flag("--json", arguments.json, "Print one JSON object");
}

}  // namespace
}  // namespace telemetry::bench

int main(int argc, char** argv) {
  return telemetry::bench::BenchMain(argc, argv, "bench-ingest", "Measures how fast rows get into a dataset",
                                     telemetry::bench::AddFlags, telemetry::bench::Run);
}
