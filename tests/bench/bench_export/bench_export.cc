// bench-export: measures the export of a dataset to sidecars and compares it with the database's shell on the same
// join. See README.md in this folder.

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "server/export/dataset_source.h"
#include "server/export/export_dataset.h"
#include "server/storage/any/any_store.h"
#include "tests/bench/bench_export/database_shell.h"
#include "tests/bench/bench_export/dataset_builder.h"
#include "tests/bench/bench_ingest/collector_process.h"
#include "tests/bench/bench_main.h"

namespace telemetry::bench {
namespace {

struct Arguments {
  uint64_t rows = 1'000'000;
  int repeat = 3;
  std::string dir = std::filesystem::temp_directory_path() / absl::StrCat("bench-export-", getpid());
  std::string postgresql;
  bool keep = false;
  bool json = false;
};

// The rates of one database, in rows per second.
struct Rates {
  double exported = 0;
  double through_collector = 0;
  double shell = 0;
  double shell_with_texts = 0;
};

struct Numbers {
  uint64_t rows = 0;
  Rates sqlite;
  Rates postgresql;
  uint64_t database_bytes = 0;
  uint64_t sidecar_bytes = 0;

  double PerRow(uint64_t bytes) const { return static_cast<double>(bytes) / static_cast<double>(rows); }
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

absl::StatusOr<double> ExportRate(const Arguments& arguments, const exporter::DatasetSource& source, Numbers* numbers) {
  return BestRate(arguments, [&] {
    absl::StatusOr<exporter::ExportResult> result =
        exporter::ExportDataset(source, {.base = arguments.dir + "/export"});
    if (!result.ok()) return result.status();
    if (result->counts.measurements != arguments.rows) return absl::InternalError("rows are missing in the export");
    numbers->sidecar_bytes = 0;
    for (const exporter::files::WrittenFile& file : result->files) {
      if (file.name != "export.attempts.jsonl") numbers->sidecar_bytes += file.size_bytes;
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<double> CollectorRate(const Arguments& arguments, const std::string& database, Numbers* numbers) {
  CollectorProcess collector = CollectorProcess::Start(database, {.log = arguments.dir + "/collector.log"});
  absl::StatusOr<double> rate = ExportRate(arguments, exporter::FromCollector(collector.address()), numbers);
  collector.Stop();
  return rate;
}

// `before` precedes the query.
absl::StatusOr<double> ShellRate(const Arguments& arguments, const std::string& database, const std::string& before,
                                 const std::string& texts) {
  return BestRate(arguments,
                  [&] { return WriteQuery(database, before, JoinSql(texts), arguments.dir + "/shell.csv"); });
}

// Measures the join with config texts that were assembled before the clock starts. They are in a table of the
// PostgreSQL database, which is dropped afterwards, or in another SQLite file, because only the collector may change
// the dataset's.
absl::StatusOr<double> ReadyTextsRate(const Arguments& arguments, const std::string& database) {
  const std::string query = "SELECT config, config_id, text FROM config_texts";
  if (storage::any::IsPostgresqlUrl(database)) {
    absl::Status status = RunShell(database, absl::StrCat("CREATE TABLE bench_texts AS ", query,
                                                          "; ALTER TABLE bench_texts ADD PRIMARY KEY (config); "
                                                          "ANALYZE bench_texts"));
    if (!status.ok()) return status;
    absl::StatusOr<double> rate = ShellRate(arguments, database, "", "bench_texts");
    status = RunShell(database, "DROP TABLE bench_texts");
    return status.ok() ? rate : status;
  }
  const std::string attach = absl::StrCat("ATTACH '", arguments.dir, "/texts.db' AS ready; ");
  absl::Status status = RunShell(
      database,
      absl::StrCat(
          attach,
          "DROP TABLE IF EXISTS ready.texts; CREATE TABLE ready.texts (config INTEGER PRIMARY KEY, config_id, text); "
          "INSERT INTO ready.texts ",
          query));
  return status.ok() ? ShellRate(arguments, database, attach, "ready.texts") : status;
}

absl::Status Measure(const Arguments& arguments, const std::string& database, Numbers* numbers, Rates* rates) {
  absl::StatusOr<double> rate = ExportRate(arguments, exporter::FromDatabase(database), numbers);
  if (!rate.ok()) return rate.status();
  rates->exported = *rate;

  rate = CollectorRate(arguments, database, numbers);
  if (!rate.ok()) return rate.status();
  rates->through_collector = *rate;

  rate = ShellRate(arguments, database, "", "config_texts");
  if (!rate.ok()) return rate.status();
  rates->shell = *rate;

  rate = ReadyTextsRate(arguments, database);
  if (!rate.ok()) return rate.status();
  rates->shell_with_texts = *rate;
  return absl::OkStatus();
}

absl::Status MeasureAll(const Arguments& arguments, Numbers* numbers) {
  numbers->rows = arguments.rows;
  const std::string file = arguments.dir + "/dataset.db";
  std::vector<std::pair<std::string, Rates*>> databases = {{file, &numbers->sqlite}};
  if (!arguments.postgresql.empty()) databases.emplace_back(arguments.postgresql, &numbers->postgresql);
  const bool is_built = std::filesystem::exists(file);
  for (const auto& [database, rates] : databases) {
    if (!is_built) {
      if (absl::Status status = BuildDataset(database, 0, arguments.rows); !status.ok()) return status;
      if (database != file) {
        if (absl::Status status = RunShell(database, "VACUUM ANALYZE"); !status.ok()) return status;
      }
    }
    if (database == file) numbers->database_bytes = std::filesystem::file_size(file);
    if (absl::Status status = Measure(arguments, database, numbers, rates); !status.ok()) return status;
  }
  return absl::OkStatus();
}

void PrintText(const char* database, const char* shell, const Rates& rates) {
  const auto print = [&rates](const std::string& name, double rate) {
    absl::PrintF("%-42s %12.0f rows/s   %.2f of the shell, %.2f with ready texts\n", name, rate, rate / rates.shell,
                 rate / rates.shell_with_texts);
  };
  print(absl::StrCat(database, ": export"), rates.exported);
  print(absl::StrCat(database, ": export from a collector"), rates.through_collector);
  print(absl::StrCat(database, ": ", shell, ", same join"), rates.shell);
  print(absl::StrCat(database, ": ", shell, ", config texts ready"), rates.shell_with_texts);
}

void PrintText(const Arguments& arguments, const Numbers& numbers) {
  absl::PrintF("rows                               %12d\n", numbers.rows);
  PrintText("SQLite", "sqlite3 -csv", numbers.sqlite);
  if (!arguments.postgresql.empty()) PrintText("PostgreSQL", "psql \\copy", numbers.postgresql);
  absl::PrintF("sidecars                           %12.1f bytes/row\n", numbers.PerRow(numbers.sidecar_bytes));
  absl::PrintF("SQLite file                        %12.1f bytes/row  ratio %.3f\n",
               numbers.PerRow(numbers.database_bytes), numbers.size_ratio());
}

std::string ToJson(const Rates& rates) {
  return absl::StrFormat(
      "{\"export_rows_per_s\": %.0f, \"collector_rows_per_s\": %.0f, \"shell_rows_per_s\": %.0f, "
      "\"shell_ready_texts_rows_per_s\": %.0f}",
      rates.exported, rates.through_collector, rates.shell, rates.shell_with_texts);
}

void PrintJson(const Arguments& arguments, const Numbers& numbers) {
  absl::PrintF(
      "{\"rows\": %d, \"sqlite\": %s, \"postgresql\": %s, \"database_bytes_per_row\": %.1f, "
      "\"sidecar_bytes_per_row\": %.1f, \"size_ratio\": %.4f}\n",
      numbers.rows, ToJson(numbers.sqlite), arguments.postgresql.empty() ? "null" : ToJson(numbers.postgresql),
      numbers.PerRow(numbers.database_bytes), numbers.PerRow(numbers.sidecar_bytes), numbers.size_ratio());
}

// Creates the folder, which must not exist, runs the benchmark in it, and removes it at the end.
absl::Status Run(const Arguments& arguments) {
  if (!std::filesystem::create_directory(arguments.dir) && !arguments.keep) {
    return absl::AlreadyExistsError(arguments.dir + " exists: name a folder that can be made and removed");
  }
  Numbers numbers;
  absl::Status status = MeasureAll(arguments, &numbers);
  if (!arguments.keep) std::filesystem::remove_all(arguments.dir);
  if (!status.ok()) return status;
  arguments.json ? PrintJson(arguments, numbers) : PrintText(arguments, numbers);
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
  app.add_option("--postgresql", arguments.postgresql,
                 "URL of an empty database on a PostgreSQL server, which gets the same dataset (default: SQLite only)");
  app.add_flag(
      "--keep", arguments.keep,
      "Keep the working folder, and use the datasets of an earlier run with the same --rows, if there are any");
  app.add_flag("--json", arguments.json, "Print one JSON object");
}

}  // namespace
}  // namespace telemetry::bench

int main(int argc, char** argv) {
  return telemetry::bench::BenchMain(argc, argv, "bench-export",
                                     "Measures the export of a dataset against the database's shell on the same join",
                                     telemetry::bench::AddFlags, telemetry::bench::Run);
}
