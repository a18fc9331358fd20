// bench-measure: measures one config repeatedly. See README.md in this folder.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "tests/bench/bench_kernels/bench_cases.h"
#include "tests/bench/bench_measure/repeated_measuring.h"
#include "worker/device/open_device.h"
#include "worker/tune/measure/sample_statistics.h"
#include "worker/tune/tune_child.h"

namespace telemetry::bench {
namespace {

namespace measure = worker::tune::measure;

struct Arguments {
  std::string device;
  std::string kernel = "add";
  int times = 20;
  int rounds = 50;
};

void PrintRepetition(const RepeatedMeasuring::Repetition& r) {
  const measure::wire::Outcome& outcome = r.outcome;
  if (outcome.has_failure()) {
    absl::PrintF("  %s/%s %s after %.1f ms\n", outcome.failure().phase(), outcome.failure().error_class(),
                 outcome.failure().code(), r.wall_ms);
    return;
  }
  absl::PrintF("  %.5f ms  %3d samples, deviation %.2f%%, %d dropped%s, %.0f MHz; %.1f ms in all\n", outcome.perf_ms(),
               outcome.samples_ms_size(),
               100 * measure::MedianDeviation(outcome.samples_ms()) / (outcome.has_perf_ms() ? outcome.perf_ms() : 1),
               outcome.dropped_throttled(), outcome.throttled_throughout() ? " (throttled throughout)" : "",
               outcome.sm_clock_mhz(), r.wall_ms);
}

void PrintSpread(const std::vector<RepeatedMeasuring::Repetition>& repetitions) {
  std::vector<double> medians_ms;
  std::vector<double> walls_ms;
  for (const auto& r : repetitions) {
    PrintRepetition(r);
    if (r.outcome.has_perf_ms()) medians_ms.push_back(r.outcome.perf_ms());
    walls_ms.push_back(r.wall_ms);
  }
  if (medians_ms.empty()) return;
  const auto [fastest, slowest] = std::minmax_element(medians_ms.begin(), medians_ms.end());
  absl::PrintF("medians: %.5f ms, slowest over fastest %.4f; %.1f ms a config (median)\n", measure::Median(medians_ms),
               *slowest / *fastest, measure::Median(walls_ms));
}

absl::Status BenchOne(const std::shared_ptr<worker::device::Device>& device, const BenchCase& bench_case,
                      const Arguments& arguments) {
  absl::PrintF("%s %s\n", bench_case.kernel, bench_case.config);
  absl::StatusOr<RepeatedMeasuring> measuring = RepeatedMeasuring::Start(device, bench_case);
  if (!measuring.ok()) return measuring.status();
  const auto repetitions = measuring->Repeat(arguments.times);
  if (!repetitions.ok()) return repetitions.status();
  PrintSpread(*repetitions);
  const absl::StatusOr<measure::FinalOutcome> final = measuring->FinalAgainstItself(arguments.rounds);
  if (!final.ok()) return final.status();
  absl::PrintF("final against itself: %.5f and %.5f ms, %s\n", final->outcomes[0].perf_ms(),
               final->outcomes[1].perf_ms(),
               final->tied_with_best[0] && final->tied_with_best[1] ? "a tie" : "NOT a tie");
  const auto after = measuring->AfterAnIllegalAccess();
  if (!after.ok()) return after.status();
  absl::PrintF("an illegal access, and the config after it:\n");
  for (const auto& r : *after) PrintRepetition(r);
  return absl::OkStatus();
}

absl::Status Run(const Arguments& arguments) {
  absl::StatusOr<std::shared_ptr<worker::device::Device>> device = worker::device::OpenDevice(arguments.device);
  if (!device.ok()) return device.status();
  absl::PrintF("%s, %s\n", (*device)->id(), (*device)->properties().name);
  for (const BenchCase& bench_case : BenchCases()) {
    if (bench_case.kernel != arguments.kernel) continue;
    if (absl::Status status = BenchOne(*device, bench_case, arguments); !status.ok()) return status;
  }
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Measures one config of a kernel again and again", "bench-measure");
  app.add_option("--device", arguments.device, "Device, such as cuda:0 or opencl:0; default: the first one");
  app.add_option("--kernel", arguments.kernel, "A kernel of the cases of bench-kernels")->capture_default_str();
  app.add_option("--times", arguments.times, "Number of measurements")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--rounds", arguments.rounds, "Rounds of the final")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  const absl::Status status = Run(arguments);
  if (status.ok()) return 0;
  absl::FPrintF(stderr, "bench-measure: %s\n", status.message());
  return 1;
}

}  // namespace
}  // namespace telemetry::bench

int main(int argc, char** argv) {
  try {
    if (const std::optional<int> exit_status = telemetry::worker::tune::RunTuneChild(argc, argv)) return *exit_status;
    return telemetry::bench::Main(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench-measure: %s\n", error.what());
    return 1;
  }
}
