// bench-tune: measures the speed of the tuner and the quality of the configs that it finds. See README.md in this
// folder.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "tests/bench/bench_main.h"
#include "tests/bench/bench_tune/tune_cases.h"
#include "tests/bench/bench_tune/tune_run.h"
#include "worker/device/open_device.h"
#include "worker/tune/search/effort.h"
#include "worker/tune/tune_child.h"

namespace telemetry::bench {
namespace {

namespace tune = worker::tune;

struct Arguments {
  std::string device;
  std::string kernel;
  std::vector<std::string> kernel_arguments;
  std::string effort = "quick";
  std::string algorithm;
  uint64_t seed = 0;
  int seeds = 1;
  int sabotage = 0;
  double budget_s = 0;
  bool large = false;
  bool verbose = false;
  std::string compiler_options;
  std::string log;
  int max_configs = 0;
};

std::vector<TuneCase> ChosenCases(const Arguments& arguments) {
  if (!arguments.kernel_arguments.empty()) return {{arguments.kernel, arguments.kernel_arguments}};
  std::vector<TuneCase> chosen;
  for (const TuneCase& tune_case : TuneCases()) {
    if (tune_case.is_large != arguments.large) continue;
    if (arguments.kernel.empty() || tune_case.kernel == arguments.kernel) chosen.push_back(tune_case);
  }
  return chosen;
}

void Print(const TuneCase& tune_case, uint64_t seed, const tune::TuneResult& result) {
  const tune::recording::AttemptCounters& counters = result.counters;
  const double best_ms = result.ranking.best ? result.ranking.best->perf_ms : 0;
  const double total = counters.seconds_total;
  absl::PrintF("%-16s %-32s seed %d  best %.4f ms", tune_case.kernel, absl::StrJoin(tune_case.arguments, " "), seed,
               best_ms);
  if (tune_case.target_ms > 0)
    absl::PrintF(" (%.2f of target %.4f)", best_ms / tune_case.target_ms, tune_case.target_ms);
  absl::PrintF("  default %.4f ms  %d ties\n", result.ranking.default_perf_ms.value_or(0), result.ranking.ties.size());
  absl::PrintF(
      "    %d configs in %.1f s: %.1f configs/s; preparing %.1f s, compiling %.1f s, measuring %.1f s, other %.1f s; "
      "%d "
      "generations, "
      "%d sources, %d failed to compile, %d wrong, %d crashed, %d timed out, %d deduplicated\n",
      counters.configs_tested, total, static_cast<double>(counters.configs_tested) / total,
      absl::ToDoubleSeconds(result.preparing), counters.seconds_compiling, counters.seconds_measuring,
      total - counters.seconds_measuring, counters.generations, counters.unique_sources, counters.compile_failures,
      counters.accuracy_failures, counters.worker_failures, counters.timeouts, counters.deduplicated);
  if (result.ranking.best) absl::PrintF("    %s\n", result.ranking.best->config.ToString());
  std::fflush(stdout);
}

// Prints the spread of the best times over the seeds.
void PrintSpread(const TuneCase& tune_case, const std::vector<double>& bests_ms) {
  if (bests_ms.size() < 2) return;
  const auto [fastest, slowest] = std::minmax_element(bests_ms.begin(), bests_ms.end());
  absl::PrintF("%-16s %d seeds: slowest over fastest best %.3f\n", tune_case.kernel, bests_ms.size(),
               *slowest / *fastest);
}

absl::Status Run(const Arguments& arguments) {
  absl::StatusOr<std::shared_ptr<worker::device::Device>> device = worker::device::OpenDevice(arguments.device);
  if (!device.ok()) return device.status();
  absl::StatusOr<tune::search::Effort> effort = tune::search::ParseEffort(arguments.effort);
  if (!effort.ok()) return effort.status();
  absl::PrintF("%s, %s\n", (*device)->id(), (*device)->properties().name);
  std::vector<std::string> failures;
  for (const TuneCase& tune_case : ChosenCases(arguments)) {
    std::vector<double> bests_ms;
    for (int i = 0; i < arguments.seeds; ++i) {
      const uint64_t seed = arguments.seed + static_cast<uint64_t>(i);
      absl::StatusOr<tune::TuneResult> result = RunTune(tune_case, *device,
                                                        {.effort = *effort,
                                                         .algorithm = arguments.algorithm,
                                                         .seed = seed,
                                                         .sabotage = arguments.sabotage,
                                                         .budget_s = arguments.budget_s,
                                                         .verbose = arguments.verbose,
                                                         .compiler_options = arguments.compiler_options,
                                                         .log = arguments.log,
                                                         .max_configs = arguments.max_configs});
      if (!result.ok()) {
        failures.push_back(absl::StrCat(tune_case.kernel, ": ", result.status().message()));
        break;
      }
      Print(tune_case, seed, *result);
      if (result->ranking.best) bests_ms.push_back(result->ranking.best->perf_ms);
    }
    PrintSpread(tune_case, bests_ms);
  }
  return failures.empty() ? absl::OkStatus() : absl::InternalError(absl::StrJoin(failures, "\n"));
}

void AddFlags(CLI::App& app, Arguments& arguments) {
  app.add_option("--device", arguments.device, "Device, such as cuda:0 or opencl:0; default: the first one");
  CLI::Option* kernel = app.add_option("--kernel", arguments.kernel, "Tune only this kernel");
  app.add_option("--arg", arguments.kernel_arguments, "Other arguments for --kernel: x=128x64:f32")->needs(kernel);
  app.add_option("--effort", arguments.effort, "Effort: none, quick or full")->capture_default_str();
  app.add_option("--algorithm", arguments.algorithm, "Search algorithm, as in telemetry-worker tune");
  app.add_option("--seed", arguments.seed, "The first seed")->capture_default_str();
  app.add_option("--seeds", arguments.seeds, "Number of attempts per case, with consecutive seeds")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--sabotage", arguments.sabotage, "Make every N-th config access invalid memory");
  app.add_option("--budget", arguments.budget_s, "Time budget of each attempt in seconds; default: none");
  app.add_flag("--large", arguments.large, "Tune the sizes of real models, and odd and small ones, instead");
  app.add_option("--options", arguments.compiler_options, "More options of the compiler, separated by spaces");
  app.add_option("--log", arguments.log, "Keep the sidecars: BASE.csv, BASE.meta.jsonl")->type_name("BASE");
  app.add_option("--max-configs", arguments.max_configs, "Maximum number of configs; default: set by --effort");
  app.add_flag("--verbose", arguments.verbose, "Print a summary of each generation");
}

}  // namespace
}  // namespace telemetry::bench

int main(int argc, char** argv) {
  if (const std::optional<int> exit_status = telemetry::worker::tune::RunTuneChild(argc, argv)) return *exit_status;
  return telemetry::bench::BenchMain(argc, argv, "bench-tune",
                                     "Measures the speed of tuning and the configs that it finds",
                                     telemetry::bench::AddFlags, telemetry::bench::Run);
}
