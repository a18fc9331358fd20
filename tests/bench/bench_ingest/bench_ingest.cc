// bench-ingest: measures the ingest rate of a collector against the rate of its database alone. See README.md beside
// this file.

#include <string>

#include "absl/status/status.h"
#include "tests/bench/bench_ingest/ingest_arguments.h"
#include "tests/bench/bench_ingest/over_collector.h"
#include "tests/bench/bench_ingest/over_postgresql.h"
#include "tests/bench/bench_ingest/over_sqlite.h"
#include "tests/bench/bench_ingest/workload.h"
#include "tests/bench/bench_main.h"

namespace telemetry::bench {
namespace {

absl::Status Run(const IngestArguments& arguments) {
  if (!arguments.collector.empty()) return BenchOverCollector(arguments);
  return arguments.db.empty() ? BenchOverSqlite(arguments) : BenchOverPostgresql(arguments);
}

void AddFlags(CLI::App& app, IngestArguments& arguments) {
  app.add_option("--rows", arguments.rows, "Rows of each measurement")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--producers", arguments.producers, "Numbers of concurrent producers, one measurement each")
      ->delimiter(',')
      ->capture_default_str()
      ->check(CLI::Range(1, Workload::kRuns));
  CLI::Option* const db =
      app.add_option("--db", arguments.db, "URL of a PostgreSQL server, on which databases are created and dropped");
  app.add_option("--collectors", arguments.collectors, "Numbers of collectors with PostgreSQL, one measurement each")
      ->delimiter(',')
      ->capture_default_str()
      ->check(CLI::Range(1, Workload::kRuns))
      ->needs(db);
  CLI::Option* const collector =
      app.add_option("--collector", arguments.collector,
                     "Address of a collector that serves already, to add rows to its dataset")
          ->excludes(db);
  app.add_option("--first-attempt", arguments.first_attempt, "Number of the first attempts; new ones have new rows")
      ->capture_default_str()
      ->needs(collector);
  app.add_option("--dir", arguments.dir, "Folder of the databases and of the spools of the paced measurement")
      ->capture_default_str();
  app.add_option("--spool-dir", arguments.spool_dir, "Folder of all other spools, not on the disk of the databases")
      ->capture_default_str();
  app.add_option("--rounds", arguments.rounds, "Rounds of all measurements; the medians are printed")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--seconds", arguments.seconds, "Duration of the paced measurement in seconds")->capture_default_str();
  app.add_flag("--json", arguments.json, "Print one JSON object");
}

}  // namespace
}  // namespace telemetry::bench

int main(int argc, char** argv) {
  return telemetry::bench::BenchMain(argc, argv, "bench-ingest", "Measures the ingest rate of a dataset",
                                     telemetry::bench::AddFlags, telemetry::bench::Run);
}
