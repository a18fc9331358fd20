// bench-export: measures the export of a dataset to sidecars and compares it with the SQLite shell on the same join.
// See README.md in this folder.

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "server/export/dataset_source.h"
#include "server/export/export_dataset.h"
#include "tests/bench/bench_export/dataset_builder.h"
#include "tests/bench/bench_export/sqlite_shell.h"
#include "tests/bench/bench_main.h"

namespace telemetry::bench {
namespace {

struct Arguments {
  uint64_t rows = 1'000'000;
  int repeat = 3;
  std::string dir = std::filesystem::temp_directory_path() / absl::StrCat("bench-export-", getpid());
  bool json = false;
};

struct Numbers {
  uint64_t rows = 0;
  double export_rows_per_s = 0;
  double sqlite3_rows_per_s = 0;
  double sqlite3_ready_texts_rows_per_s = 0;
  uint64_t database_bytes = 0;
  uint64_t sidecar_bytes = 0;

  double PerRow(uint64_t bytes) const { return static_cast<double>(bytes) / static_cast<double>(rows); }
  double ratio() const { return export_rows_per_s / sqlite3_rows_per_s; }
  double ratio_ready_texts() const { return export_rows_per_s / sqlite3_ready_texts_rows_per_s; }
  double size_ratio() const { return static_cast<double>(database_bytes) / static_cast<double>(sidecar_bytes); }
};

// Returns a join with the columns and the order of a helion export. `texts` provides the key, id and text of each
// config.
std::string JoinSql(const std::string& texts) {
  return absl::StrCat(
      "SELECT r.run_id, m.timestamp_s, t.config_id, m.generation, s.name, m.perf_ms, m.compile_time_s, t.text "
      "FROM measurements AS m JOIN attempts AS a ON a.attempt = m.attempt JOIN runs AS r ON r.run = a.run "
      "JOIN statuses AS s ON s.status = m.status JOIN ",
      texts, " AS t ON t.config = m.config ORDER BY r.run_id, a.attempt_id, m.seq");
}

// Returns the rows per second of the fastest of several calls.
absl::StatusOr<double> BestRate(const Arguments& arguments, const std::function<absl::Status()>& work) {
  absl::Duration best = absl::InfiniteDuration();
  for (int i = 0; i < arguments.repeat; ++i) {
    const absl::Time begin = absl::Now();
    if (absl::Status status = work(); !status.ok()) return status;
    best = std::min(best, absl::Now() - begin);
  }
  return static_cast<double>(arguments.rows) / absl::ToDoubleSeconds(best);
}

absl::StatusOr<double> ExportRate(const Arguments& arguments, const std::string& database, Numbers* numbers) {
  return BestRate(arguments, [&] {
    absl::StatusOr<exporter::ExportResult> result =
        exporter::ExportDataset(exporter::FromDatabase(database), {.base = arguments.dir + "/export"});
    if (!result.ok()) return result.status();
    if (result->counts.measurements != arguments.rows) return absl::InternalError("rows are missing in the export");
    numbers->sidecar_bytes = 0;
    for (const exporter::files::WrittenFile& file : result->files) {
      if (file.name != "export.attempts.jsonl") numbers->sidecar_bytes += file.size_bytes;
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<double> ShellRate(const Arguments& arguments, const std::string& database, const std::string& sql) {
  return BestRate(arguments, [&] { return RunSqliteShell(database, sql, arguments.dir + "/sqlite3.csv"); });
}

absl::Status Measure(const Arguments& arguments, Numbers* numbers) {
  const std::string database = arguments.dir + "/dataset.db";
  if (absl::Status status = BuildDataset(database, arguments.rows); !status.ok()) return status;
  numbers->rows = arguments.rows;
  numbers->database_bytes = std::filesystem::file_size(database);

  absl::StatusOr<double> rate = ExportRate(arguments, database, numbers);
  if (!rate.ok()) return rate.status();
  numbers->export_rows_per_s = *rate;

  rate = ShellRate(arguments, database, JoinSql("config_texts"));
  if (!rate.ok()) return rate.status();
  numbers->sqlite3_rows_per_s = *rate;

  const std::string texts = arguments.dir + "/texts.db";
  const std::string attach = absl::StrCat("ATTACH '", texts, "' AS ready; ");
  absl::Status status =
      RunSqliteShell(database,
                     attach +
                         "CREATE TABLE ready.texts (config INTEGER PRIMARY KEY, config_id TEXT, text TEXT); "
                         "INSERT INTO ready.texts SELECT config, config_id, text FROM config_texts;",
                     arguments.dir + "/sqlite3.csv");
  if (!status.ok()) return status;
  rate = ShellRate(arguments, database, attach + JoinSql("ready.texts"));
  if (!rate.ok()) return rate.status();
  numbers->sqlite3_ready_texts_rows_per_s = *rate;
  return absl::OkStatus();
}

void PrintText(const Numbers& numbers) {
  absl::PrintF("rows                               %12d\n", numbers.rows);
  absl::PrintF("export                             %12.0f rows/s\n", numbers.export_rows_per_s);
  absl::PrintF("sqlite3 -csv, same join            %12.0f rows/s   ratio %.2f\n", numbers.sqlite3_rows_per_s,
               numbers.ratio());
  absl::PrintF("sqlite3 -csv, config texts ready   %12.0f rows/s   ratio %.2f\n",
               numbers.sqlite3_ready_texts_rows_per_s, numbers.ratio_ready_texts());
  absl::PrintF("sidecars                           %12.1f bytes/row\n", numbers.PerRow(numbers.sidecar_bytes));
  absl::PrintF("database                           %12.1f bytes/row  ratio %.3f\n",
               numbers.PerRow(numbers.database_bytes), numbers.size_ratio());
}

void PrintJson(const Numbers& numbers) {
  absl::PrintF(
      "{\"rows\": %d, \"export_rows_per_s\": %.0f, \"sqlite3_rows_per_s\": %.0f, \"ratio\": %.3f, "
      "\"sqlite3_ready_texts_rows_per_s\": %.0f, \"ratio_ready_texts\": %.3f, \"database_bytes_per_row\": %.1f, "
      "\"sidecar_bytes_per_row\": %.1f, \"size_ratio\": %.4f}\n",
      numbers.rows, numbers.export_rows_per_s, numbers.sqlite3_rows_per_s, numbers.ratio(),
      numbers.sqlite3_ready_texts_rows_per_s, numbers.ratio_ready_texts(), numbers.PerRow(numbers.database_bytes),
      numbers.PerRow(numbers.sidecar_bytes), numbers.size_ratio());
}

// Creates the folder, which must not exist, runs the benchmark in it, and removes it at the end.
absl::Status Run(const Arguments& arguments) {
  if (!std::filesystem::create_directory(arguments.dir)) {
    return absl::AlreadyExistsError(arguments.dir + " exists: name a folder that can be made and removed");
  }
  Numbers numbers;
  absl::Status status = Measure(arguments, &numbers);
  std::filesystem::remove_all(arguments.dir);
  if (!status.ok()) return status;
  arguments.json ? PrintJson(numbers) : PrintText(numbers);
  return absl::OkStatus();
}

void AddFlags(CLI::App& app, Arguments& arguments) {
  app.add_option("--rows", arguments.rows, "Measurements in the database")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--repeat", arguments.repeat, "Repetitions; the best is reported")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--dir", arguments.dir, "Working folder, which must not exist; needs 1.5 KB per row")
      ->capture_default_str();
  app.add_flag("--json", arguments.json, "Print one JSON object");
}

}  // namespace
}  // namespace telemetry::bench

int main(int argc, char** argv) {
  return telemetry::bench::BenchMain(argc, argv, "bench-export",
                                     "Measures the export of a database against sqlite3 -csv of the same join",
                                     telemetry::bench::AddFlags, telemetry::bench::Run);
}
