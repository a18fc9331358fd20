#include "tests/bench/bench_main.h"

#include "proto/record/strings.h"

namespace telemetry::bench {

int RunBench(CLI::App& app, int argc, char** argv, const std::function<absl::Status()>& run) {
  CLI11_PARSE(app, argc, argv);
  const absl::Status status = run();
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s: %s\n", app.get_name().c_str(), record::Cat(status.message()).c_str());
  return 1;
}

}  // namespace telemetry::bench
