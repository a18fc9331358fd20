// bench-ingest: measures the ingest rate of a collector against the rate of its database alone. See README.md beside
// this file.

#include <string>

#include "absl/status/status.h"
#include "tests/bench/bench_ingest/ingest_arguments.h"
#include "tests/bench/bench_ingest/over_postgresql.h"
#include "tests/bench/bench_ingest/over_sqlite.h"
#include "tests/bench/bench_ingest/workload.h"
#include "tests/bench/bench_main.h"

namespace telemetry::bench {
namespace {

absl::Status Run(const IngestArguments& arguments) {
  return arguments.db.empty() ? BenchOverSqlite(arguments) : BenchOverPostgresql(arguments);
}

void AddFlags(CLI::App& app, IngestArguments& arguments) {
  app.add_option("--rows", arguments.rows, "Rows of each measurement")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--producers", arguments.producers, "How many at once, one measurement each")
      ->delimiter(',')
      ->capture_default_str()
      ->check(CLI::Range(1, Workload::kRuns));
  CLI::Option* const db = app.add_option("--db", arguments.db,
                                         "A PostgreSQL server, postgresql://...: databases are made there and dropped");
  app.add_option("--collectors", arguments.collectors, "Over PostgreSQL: how many at once, one measurement each")
      ->delimiter(',')
      ->capture_default_str()
      ->check(CLI::Range(1, Workload::kRuns))
      ->needs(db);
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
