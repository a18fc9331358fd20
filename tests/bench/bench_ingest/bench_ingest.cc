// How fast rows get into a dataset, against what SQLite does alone. See README.md beside this file.

#include <stdlib.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "tests/bench/bench_ingest/ingest_runs.h"
#include "tests/bench/bench_ingest/raw_limit.h"
#include "tests/bench/bench_ingest/workload.h"

namespace telemetry::bench {
namespace {

constexpr double kPacedRowsPerS = 10000;

struct Options {
  uint64_t rows = 1000000;
  std::vector<int> producers = {1, 8, 64};
  std::string dir = std::filesystem::temp_directory_path().string();
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
      std::fprintf(stderr, "cannot make a folder in %s; name another with --dir\n", dir.c_str());
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

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

struct Measured {
  double raw_rows_per_s = 0;
  std::vector<EndToEnd> end_to_end;
  PacedResult paced;

  double Ratio(const EndToEnd& run) const { return run.rows_per_s / raw_rows_per_s; }
};

// Each round measures everything once, so that a slow minute of a shared machine falls on all alike.
Measured MeasureAll(const Options& options) {
  const Workload workload;
  std::vector<double> raw;
  std::vector<std::vector<double>> runs(options.producers.size());
  for (int round = 0; round < options.rounds; ++round) {
    if (!options.json) std::fprintf(stderr, "round %d of %d\n", round + 1, options.rounds);
    {
      const Scratch scratch(options.dir);
      raw.push_back(MeasureRawLimit(workload, options.rows, scratch.path() + "/raw.db"));
    }
    for (size_t i = 0; i < runs.size(); ++i) {
      const Scratch scratch(options.dir);
      runs[i].push_back(MeasureThroughput(workload, options.rows, options.producers[i], scratch.path()));
    }
  }
  const Scratch scratch(options.dir);
  Measured measured;
  measured.raw_rows_per_s = Median(raw);
  for (size_t i = 0; i < runs.size(); ++i) measured.end_to_end.push_back({options.producers[i], Median(runs[i])});
  measured.paced = MeasurePaced(workload, kPacedRowsPerS, options.seconds, scratch.path());
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
}  // namespace telemetry::bench

// NOLINTNEXTLINE(bugprone-exception-escape): what escapes ends the benchmark, as it should
int main(int argc, char** argv) {
  telemetry::bench::Options options;
  CLI::App app("Measures how fast rows get into a dataset");
  app.add_option("--rows", options.rows, "Rows of each measurement")->capture_default_str()->check(CLI::PositiveNumber);
  app.add_option("--producers", options.producers, "How many at once, one measurement each")
      ->delimiter(',')
      ->capture_default_str()
      ->check(CLI::Range(1, telemetry::bench::Workload::kRuns));
  app.add_option("--dir", options.dir, "Where databases and spools go meanwhile")->capture_default_str();
  app.add_option("--rounds", options.rounds, "Measure each so often, in turn; the medians are printed")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--seconds", options.seconds, "Length of the paced measurement")->capture_default_str();
  app.add_flag("--json", options.json, "Print one JSON object");
  CLI11_PARSE(app, argc, argv);
  const telemetry::bench::Measured measured = telemetry::bench::MeasureAll(options);
  options.json ? telemetry::bench::PrintJson(measured) : telemetry::bench::PrintText(measured);
  return 0;
}
