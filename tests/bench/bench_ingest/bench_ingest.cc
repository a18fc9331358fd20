// How fast rows get into a dataset, against what SQLite does alone. See README.md beside this file.

#include <stdlib.h>

#include <CLI/CLI.hpp>
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

class Report {
 public:
  explicit Report(bool json) : json_(json) {}

  void Raw(double rows_per_s) {
    raw_rows_per_s_ = rows_per_s;
    Line(absl::StrFormat("raw limit          %9.0f rows/s", rows_per_s));
  }
  void Add(const EndToEnd& run) {
    runs_.push_back(run);
    Line(absl::StrFormat("%3d producer(s)    %9.0f rows/s   %.2f of raw", run.producers, run.rows_per_s, Ratio(run)));
  }
  void Paced(const PacedResult& paced) {
    paced_ = paced;
    Line(absl::StrFormat(
        "paced              %9.0f rows/s   ack p50 %.1f ms, p99 %.1f ms   collector %.2f cores, %.0f MiB",
        paced.rows_per_s, paced.p50_ms, paced.p99_ms, paced.cpu_cores, paced.rss_mib));
  }
  void Finish() const {
    if (!json_) return;
    const std::string runs = absl::StrJoin(runs_, ", ", [this](std::string* out, const EndToEnd& run) {
      absl::StrAppendFormat(out, "{\"producers\": %d, \"rows_per_s\": %.0f, \"ratio\": %.3f}", run.producers,
                            run.rows_per_s, Ratio(run));
    });
    std::printf(
        "{\"raw_rows_per_s\": %.0f, \"end_to_end\": [%s], \"paced\": {\"rows_per_s\": %.0f, \"p50_ms\": %.2f, "
        "\"p99_ms\": %.2f, \"cpu_cores\": %.3f, \"rss_mib\": %.1f}}\n",
        raw_rows_per_s_, runs.c_str(), paced_.rows_per_s, paced_.p50_ms, paced_.p99_ms, paced_.cpu_cores,
        paced_.rss_mib);
  }

 private:
  double Ratio(const EndToEnd& run) const { return run.rows_per_s / raw_rows_per_s_; }
  void Line(const std::string& line) const {
    if (!json_) std::printf("%s\n", line.c_str());
    std::fflush(stdout);
  }

  const bool json_;
  double raw_rows_per_s_ = 0;
  std::vector<EndToEnd> runs_;
  PacedResult paced_;
};

void Run(const Options& options) {
  const Workload workload;
  Report report(options.json);
  {
    const Scratch scratch(options.dir);
    report.Raw(MeasureRawLimit(workload, options.rows, scratch.path() + "/raw.db"));
  }
  for (const int producers : options.producers) {
    const Scratch scratch(options.dir);
    report.Add({producers, MeasureThroughput(workload, options.rows, producers, scratch.path())});
  }
  const Scratch scratch(options.dir);
  report.Paced(MeasurePaced(workload, kPacedRowsPerS, options.seconds, scratch.path()));
  report.Finish();
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
  app.add_option("--seconds", options.seconds, "Length of the paced measurement")->capture_default_str();
  app.add_flag("--json", options.json, "Print one JSON object");
  CLI11_PARSE(app, argc, argv);
  telemetry::bench::Run(options);
  return 0;
}
