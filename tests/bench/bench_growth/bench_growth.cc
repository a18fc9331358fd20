// bench-growth: measures a dataset while it grows: ingest, export, check and retention at several sizes. See README.md
// in this folder.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "proto/base/status_macros.h"
#include "server/export/dataset_source.h"
#include "server/export/export_dataset.h"
#include "server/storage/any/any_store.h"
#include "tests/bench/bench_export/database_shell.h"
#include "tests/bench/bench_export/dataset_builder.h"
#include "tests/bench/bench_ingest/collector_process.h"
#include "tests/bench/bench_ingest/ingest_runs.h"
#include "tests/bench/bench_ingest/scratch.h"
#include "tests/bench/bench_ingest/workload.h"
#include "tests/bench/bench_main.h"
#include "tests/bench/child_program.h"

namespace telemetry::bench {
namespace {

struct Arguments {
  std::string db;
  std::vector<uint64_t> sizes = {1'000'000, 10'000'000};
  uint64_t rows = 500'000;
  std::string dir = std::filesystem::temp_directory_path().string();
  std::string spool_dir = "/dev/shm";
};

// The results at one size. Rates are in rows per second.
struct Numbers {
  double load = 0;
  double ingest = 0;
  double exported = 0;
  double through_collector = 0;
  double check_s = 0;
  double prune = 0;
  uint64_t bytes = 0;
};

double Rate(uint64_t rows, absl::Duration time) { return static_cast<double>(rows) / absl::ToDoubleSeconds(time); }

// A dataset that grows, and the files of the benchmark beside it.
class Growth {
 public:
  explicit Growth(const Arguments& arguments) : arguments_(arguments) {}

  // Loads rows until the dataset has `size` of them, and measures.
  absl::StatusOr<Numbers> Measure(uint64_t size) {
    Numbers numbers;
    const absl::Time begin = absl::Now();
    RETURN_IF_ERROR(BuildDataset(arguments_.db, loaded_, size));
    if (size > loaded_) numbers.load = Rate(size - loaded_, absl::Now() - begin);
    loaded_ = size;
    if (IsServer()) RETURN_IF_ERROR(RunShell(arguments_.db, "VACUUM ANALYZE"));
    ASSIGN_OR_RETURN(numbers.bytes, Bytes());
    ASSIGN_OR_RETURN(numbers.exported, ExportRate(exporter::FromDatabase(arguments_.db)));
    RETURN_IF_ERROR(MeasureCollector(&numbers));
    const absl::Time check_begin = absl::Now();
    RETURN_IF_ERROR(RunProgram(Path("check"), {ProgramPath("telemetry-collector"), "check", "--db", arguments_.db}));
    numbers.check_s = absl::ToDoubleSeconds(absl::Now() - check_begin);
    ASSIGN_OR_RETURN(numbers.prune, PruneRate());
    return numbers;
  }

 private:
  bool IsServer() const { return storage::any::IsPostgresqlUrl(arguments_.db); }
  std::string Path(const std::string& name) const { return absl::StrCat(arguments_.dir, "/bench-growth.", name); }

  absl::StatusOr<uint64_t> Bytes() const {
    if (!IsServer()) return std::filesystem::file_size(arguments_.db);
    RETURN_IF_ERROR(WriteQuery(arguments_.db, "", "SELECT pg_database_size(current_database())", Path("bytes")));
    std::ifstream file(Path("bytes"));
    std::string title;
    uint64_t bytes = 0;
    if (!(file >> title >> bytes)) return absl::InternalError("the size of the database cannot be read");
    return bytes;
  }

  // Exports the rows of the newest kernel that is complete, or those of the only one.
  absl::StatusOr<double> ExportRate(const exporter::DatasetSource& source) const {
    exporter::ExportOptions options = {.base = Path("export")};
    options.filter.set_kernel_name(KernelOfRow(std::max(loaded_, kRowsPerKernel) - kRowsPerKernel));
    const absl::Time begin = absl::Now();
    ASSIGN_OR_RETURN(const exporter::ExportResult result, exporter::ExportDataset(source, options));
    return Rate(result.counts.measurements, absl::Now() - begin);
  }

  absl::Status MeasureCollector(Numbers* numbers) {
    CollectorProcess collector = CollectorProcess::Start(arguments_.db, {.log = Path("log")});
    ASSIGN_OR_RETURN(numbers->through_collector, ExportRate(exporter::FromCollector(collector.address())));
    const Scratch spools(arguments_.spool_dir);
    numbers->ingest = MeasureThroughput(workload_, {.rows = arguments_.rows,
                                                    .producers = 8,
                                                    .address = collector.address(),
                                                    .first_attempt = next_attempt_,
                                                    .folder = arguments_.dir,
                                                    .spool_folder = spools.path()})
                          .rows_per_s;
    next_attempt_ += arguments_.rows / Workload::kRowsPerAttempt / Workload::kRuns + 1;
    collector.Stop();
    return absl::OkStatus();
  }

  // Removes the oldest attempts: a share of the bytes that corresponds to `rows` rows.
  absl::StatusOr<double> PruneRate() const {
    const std::string before = "in use: ";
    RETURN_IF_ERROR(Prune("1EiB", "--dry-run"));
    const double used = NumberAfter(before);
    const double share = static_cast<double>(arguments_.rows) / static_cast<double>(loaded_ + arguments_.rows);
    const absl::Time begin = absl::Now();
    RETURN_IF_ERROR(Prune(absl::StrCat(static_cast<uint64_t>(used * (1 - share)))));
    return NumberAfter("attempts, ") / absl::ToDoubleSeconds(absl::Now() - begin);
  }

  absl::Status Prune(const std::string& keep_bytes, const std::string& flag = "--also-only-attempts") const {
    return RunProgram(Path("prune"), {ProgramPath("telemetry-collector"), "prune", "--db", arguments_.db,
                                      "--keep-bytes", keep_bytes, "--also-only-attempts", flag});
  }

  // Returns the number after a text in the output of `prune`; 0 if there is none.
  double NumberAfter(const std::string& text) const {
    std::ifstream file(Path("prune"));
    const std::string output((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    const size_t found = output.find(text);
    if (found == std::string::npos) return 0;
    return std::strtod(output.c_str() + found + text.size(), nullptr);
  }

  const Arguments& arguments_;
  const Workload workload_;
  uint64_t loaded_ = 0;
  uint64_t next_attempt_ = 0;
};

absl::Status Run(const Arguments& arguments) {
  Growth growth(arguments);
  std::puts(
      "| rows | load rows/s | ingest rows/s | export rows/s | export from a collector rows/s | check s | retention "
      "rows/s | "
      "GB | bytes/row |\n|---|---|---|---|---|---|---|---|---|");
  for (const uint64_t size : arguments.sizes) {
    ASSIGN_OR_RETURN(const Numbers numbers, growth.Measure(size));
    absl::PrintF("| %d | %.0f | %.0f | %.0f | %.0f | %.1f | %.0f | %.2f | %.0f |\n", size, numbers.load, numbers.ingest,
                 numbers.exported, numbers.through_collector, numbers.check_s, numbers.prune,
                 static_cast<double>(numbers.bytes) / 1e9,
                 static_cast<double>(numbers.bytes) / static_cast<double>(size));
    std::fflush(stdout);
  }
  return absl::OkStatus();
}

void AddFlags(CLI::App& app, Arguments& arguments) {
  app.add_option("--db", arguments.db, "A SQLite file that does not exist, or the URL of an empty PostgreSQL database")
      ->required();
  app.add_option("--sizes", arguments.sizes, "Numbers of rows, ascending, multiples of 1000")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--rows", arguments.rows, "Rows that are ingested and removed at each size")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--dir", arguments.dir, "Folder of the exported files")->capture_default_str();
  app.add_option("--spool-dir", arguments.spool_dir, "Folder of the spools")->capture_default_str();
}

}  // namespace
}  // namespace telemetry::bench

int main(int argc, char** argv) {
  return telemetry::bench::BenchMain(argc, argv, "bench-growth", "Measures a dataset at several sizes",
                                     telemetry::bench::AddFlags, telemetry::bench::Run);
}
