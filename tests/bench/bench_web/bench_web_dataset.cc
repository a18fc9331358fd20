// bench-web-dataset: creates the dataset on which bench_web.py measures telemetry-web. See README.md in this folder.

#include <string>

#include "absl/status/status.h"
#include "tests/bench/bench_main.h"
#include "tests/bench/bench_web/web_dataset.h"

namespace telemetry::bench {
namespace {

struct Arguments {
  std::string db;
  DatasetSize size;
};

void AddFlags(CLI::App& app, Arguments& arguments) {
  app.add_option("--db", arguments.db,
                 "File that does not exist (about 110 bytes per row), or URL of an empty database")
      ->required();
  app.add_option("--rows", arguments.size.rows, "Measurements")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--runs", arguments.size.runs, "Runs")->check(CLI::PositiveNumber)->capture_default_str();
}

absl::Status Run(const Arguments& arguments) { return CreateWebDataset(arguments.db, arguments.size); }

}  // namespace
}  // namespace telemetry::bench

int main(int argc, char** argv) {
  return telemetry::bench::BenchMain(argc, argv, "bench-web-dataset",
                                     "Creates a dataset on which telemetry-web is measured", telemetry::bench::AddFlags,
                                     telemetry::bench::Run);
}
