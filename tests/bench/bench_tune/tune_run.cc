#include "tests/bench/bench_tune/tune_run.h"

#include <stdlib.h>

#include <cstdio>
#include <filesystem>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_split.h"
#include "worker/codegen/promising_configs.h"
#include "worker/device/compile_options.h"
#include "worker/kernels/library.h"
#include "worker/tune/library_subject.h"
#include "worker/tune/recording/sidecar_log.h"

namespace telemetry::bench {
namespace {

namespace tune = worker::tune;
using worker::codegen::Config;
using worker::codegen::GeneratedKernel;

// Inserts an illegal write before all other code of the kernel.
void Sabotage(GeneratedKernel* kernel) {
  const size_t body = kernel->source.find('{', kernel->source.rfind(kernel->function + "("));
  const bool is_opencl = kernel->source.find("__kernel") != std::string::npos;
  kernel->source.insert(body + 1, is_opencl ? "\n  *(volatile __global int*)8 = 1;\n" : "\n  *(volatile int*)8 = 1;\n");
}

tune::Candidates::Generate SabotagedEvery(int n, std::shared_ptr<worker::runtime::BoundKernel> kernel) {
  auto next = std::make_shared<int>(0);
  return [n, kernel = std::move(kernel), next](const Config& config) -> absl::StatusOr<GeneratedKernel> {
    absl::StatusOr<GeneratedKernel> generated = kernel->Generate(config);
    if (generated.ok() && ++*next % n == 0) Sabotage(&*generated);
    return generated;
  };
}

// Adds options of the compiler to the source of every config.
tune::Candidates::Generate WithOptions(const std::string& options,
                                       std::shared_ptr<worker::runtime::BoundKernel> kernel) {
  const std::string lines =
      worker::device::FormatSourceOptions({.options = absl::StrSplit(options, ' ', absl::SkipEmpty())});
  return [lines, kernel = std::move(kernel)](const Config& config) -> absl::StatusOr<GeneratedKernel> {
    absl::StatusOr<GeneratedKernel> generated = kernel->Generate(config);
    if (generated.ok()) generated->source.insert(0, lines);
    return generated;
  };
}

tune::TunerOptions MakeTunerOptions(const TuneRunOptions& options, const worker::device::Device& device) {
  tune::TunerOptions tuner;
  tuner.search = {.algorithm = options.algorithm, .effort = options.effort, .seed = options.seed};
  if (options.max_configs > 0) tuner.search.max_configs = options.max_configs;
  tuner.processes.measure.device = device.id();
  if (options.budget_s > 0) tuner.time_budget = absl::Seconds(options.budget_s);
  tuner.on_notice = [](const std::string& text) { std::fprintf(stderr, "%s\n", text.c_str()); };
  if (options.verbose) {
    tuner.on_generation = [](const tune::GenerationSummary& summary) {
      std::fprintf(stderr, "%s\n", tune::SummaryText(summary).c_str());
    };
  }
  return tuner;
}

}  // namespace

absl::StatusOr<tune::TuneResult> RunTune(const TuneCase& tune_case,
                                         const std::shared_ptr<worker::device::Device>& device,
                                         const TuneRunOptions& options) {
  absl::StatusOr<const worker::kernels::LibraryKernel*> kernel = worker::kernels::FindKernel(tune_case.kernel);
  if (!kernel.ok()) return kernel.status();
  absl::StatusOr<worker::kernels::Problem> problem = worker::kernels::ParseProblem(**kernel, tune_case.arguments);
  if (!problem.ok()) return problem.status();
  std::string folder = std::filesystem::temp_directory_path() / "bench-tune-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) return absl::UnavailableError("no temporary folder can be made");
  const absl::Cleanup remove = [&folder] { std::filesystem::remove_all(folder); };

  absl::StatusOr<tune::LibrarySubject> subject = tune::MakeLibrarySubject(**kernel, *problem, {}, device, options.seed);
  if (!subject.ok()) return subject.status();
  absl::StatusOr<std::unique_ptr<tune::recording::SidecarLog>> log =
      tune::recording::SidecarLog::Open({.base = options.log.empty() ? folder + "/log" : options.log});
  if (!log.ok()) return log.status();
  absl::StatusOr<std::unique_ptr<tune::Journal>> journal = tune::Journal::Open(folder + "/journal");
  if (!journal.ok()) return journal.status();
  tune::TunerOptions tuner = MakeTunerOptions(options, *device);
  if (options.effort != tune::search::Effort::kNone) {
    tuner.search.starting_points = worker::codegen::PromisingConfigs(subject->bound->config_space());
  }
  if (options.sabotage > 0) tuner.generate = SabotagedEvery(options.sabotage, subject->bound);
  if (!options.compiler_options.empty()) tuner.generate = WithOptions(options.compiler_options, subject->bound);
  return tune::Tune(std::move(subject->subject), std::move(tuner),
                    {.info = std::move(subject->info), .sinks = {.log = log->get()}, .journal = journal->get()});
}

}  // namespace telemetry::bench
