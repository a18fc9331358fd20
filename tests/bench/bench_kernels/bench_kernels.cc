// bench-kernels: measures the library's kernels on a device and compares them with copies of the same number of bytes.
// See README.md in this folder.

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "proto/record/json.h"
#include "tests/bench/bench_kernels/bench_cases.h"
#include "tests/bench/bench_kernels/measure.h"
#include "tests/bench/bench_kernels/stopwatch.h"
#include "tests/bench/bench_main.h"
#include "worker/device/device.h"
#include "worker/device/open_device.h"

namespace telemetry::bench {
namespace {

struct Arguments {
  std::string device;
  std::string kernel;
  std::string config;
  std::vector<std::string> kernel_arguments;
  int samples = 51;
  uint64_t copy_mib = 2048;
  std::string dump_dir;
  bool json = false;
};

// Returns the cases that the flags select: all of the table, or one kernel, with its own or other arguments and config.
std::vector<BenchCase> ChosenCases(const Arguments& arguments) {
  if (!arguments.kernel_arguments.empty()) {
    return {{arguments.kernel, arguments.kernel_arguments, arguments.config}};
  }
  std::vector<BenchCase> chosen;
  for (BenchCase bench_case : BenchCases()) {
    if (!arguments.kernel.empty() && bench_case.kernel != arguments.kernel) continue;
    if (!arguments.config.empty()) bench_case.config = arguments.config;
    chosen.push_back(std::move(bench_case));
  }
  if (chosen.empty()) chosen.push_back({arguments.kernel, {}, arguments.config});
  return chosen;
}

void PrintText(const Measurement& m) {
  absl::PrintF("%-10s %9.4f ms %8.1f GB/s %5.2f of a copy's %7.1f", m.kernel, m.ms, m.bytes_per_s() / 1e9,
               m.bytes_per_s() / m.copy_bytes_per_s, m.copy_bytes_per_s / 1e9);
  if (m.flops > 100 * m.bytes) absl::PrintF(" %7.1f TFLOP/s", m.flops_per_s() / 1e12);
  absl::PrintF("  %d registers, %d bytes spilt\n           %s  %s\n", m.registers, m.spill_bytes, m.arguments,
               m.config);
}

std::string FormatJson(const Measurement& m) {
  const auto text = [](const std::string& value) { return record::ToJson(record::Json::String(value)); };
  return absl::StrFormat(
      "{\"kernel\": %s, \"arguments\": %s, \"config\": %s, \"ms\": %.6f, \"bytes\": %.0f, \"flops\": %.0f, "
      "\"gb_per_s\": %.2f, \"copy_gb_per_s\": %.2f, \"ratio_to_copy\": %.4f, \"tflop_per_s\": %.3f, "
      "\"registers\": %d, \"spill_bytes\": %d}",
      text(m.kernel), text(m.arguments), text(m.config), m.ms, m.bytes, m.flops, m.bytes_per_s() / 1e9,
      m.copy_bytes_per_s / 1e9, m.bytes_per_s() / m.copy_bytes_per_s, m.flops_per_s() / 1e12, m.registers,
      m.spill_bytes);
}

absl::Status Run(const Arguments& arguments) {
  absl::StatusOr<std::shared_ptr<worker::device::Device>> device = worker::device::OpenDevice(arguments.device);
  if (!device.ok()) return device.status();
  absl::StatusOr<Stopwatch> stopwatch = Stopwatch::Create(*device, arguments.samples);
  if (!stopwatch.ok()) return stopwatch.status();
  absl::StatusOr<double> copy = stopwatch->CopyBandwidth(static_cast<int64_t>(arguments.copy_mib << 20));
  if (!copy.ok()) return copy.status();
  const std::string name = absl::StrCat((*device)->id(), ", ", (*device)->properties().name);
  if (!arguments.json) {
    absl::PrintF("%s: copies of %d MiB move %.1f GB/s\n", name, arguments.copy_mib / 2, *copy / 1e9);
  }

  std::vector<std::string> lines;
  std::vector<std::string> failures;
  for (const BenchCase& bench_case : ChosenCases(arguments)) {
    absl::StatusOr<Measurement> measurement =
        Measure(*device, &*stopwatch, bench_case, {.dump_dir = arguments.dump_dir});
    if (!measurement.ok()) {
      failures.push_back(absl::StrCat(bench_case.kernel, ": ", measurement.status().message()));
      continue;
    }
    arguments.json ? lines.push_back(FormatJson(*measurement)) : PrintText(*measurement);
  }
  if (arguments.json) {
    absl::PrintF("{\"device\": %s, \"large_copy_gb_per_s\": %.2f, \"kernels\": [%s]}\n",
                 record::ToJson(record::Json::String(name)), *copy / 1e9, absl::StrJoin(lines, ", "));
  }
  return failures.empty() ? absl::OkStatus() : absl::InternalError(absl::StrJoin(failures, "\n"));
}

void AddFlags(CLI::App& app, Arguments& arguments) {
  app.add_option("--device", arguments.device, "Device, such as cuda:0 or opencl:0; default: the first one");
  CLI::Option* kernel = app.add_option("--kernel", arguments.kernel, "Measure only this kernel");
  app.add_option("--config", arguments.config, "Another config for --kernel: \"Config(num_warps=8)\"")->needs(kernel);
  app.add_option("--arg", arguments.kernel_arguments, "Other arguments for --kernel: x=128x64:f32")->needs(kernel);
  app.add_option("--samples", arguments.samples, "Samples; the median is reported")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--copy-mib", arguments.copy_mib, "Bytes read and written by the large copy in total, in MiB")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--dump", arguments.dump_dir, "Write sources and binaries to this folder, for cuobjdump --dump-sass")
      ->check(CLI::ExistingDirectory);
  app.add_flag("--json", arguments.json, "Print one JSON object");
}

}  // namespace
}  // namespace telemetry::bench

int main(int argc, char** argv) {
  return telemetry::bench::BenchMain(argc, argv, "bench-kernels",
                                     "Measures the library's kernels against copies of as many bytes",
                                     telemetry::bench::AddFlags, telemetry::bench::Run);
}
