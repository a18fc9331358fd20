// bench-compile: measures the time that NVRTC takes for the code of configs, by sets of options. Needs NVRTC and no
// device. See README.md in this folder.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "proto/base/status_macros.h"
#include "tests/bench/bench_main.h"
#include "tests/bench/median.h"
#include "worker/codegen/config_space.h"
#include "worker/codegen/emit/generate.h"
#include "worker/codegen/target.h"
#include "worker/device/compile_cuda.h"
#include "worker/device/compile_options.h"
#include "worker/kernels/library.h"
#include "worker/kernels/trace_problem.h"
#include "worker/tune/search/make_search.h"

namespace telemetry::bench {
namespace {

namespace codegen = worker::codegen;
namespace device = worker::device;
namespace kernels = worker::kernels;
namespace search = worker::tune::search;

struct Arguments {
  std::string kernel = "softmax";
  std::vector<std::string> kernel_arguments;
  std::vector<std::string> option_sets;
  std::string architecture = "sm_90";
  std::string save;
  int configs = 20;
  uint64_t seed = 0;
  bool with_cache = false;
};

// Returns the sources of random configs, which a tuner with this seed would run, too.
absl::StatusOr<std::vector<std::string>> MakeSources(const Arguments& arguments) {
  ASSIGN_OR_RETURN(const kernels::LibraryKernel* kernel, kernels::FindKernel(arguments.kernel));
  ASSIGN_OR_RETURN(const kernels::Problem problem, kernels::ParseProblem(*kernel, arguments.kernel_arguments));
  ASSIGN_OR_RETURN(const worker::ir::DeviceIr ir, kernels::TraceProblem(*kernel, problem));
  ASSIGN_OR_RETURN(const codegen::Target target, codegen::Target::ForArchitecture(arguments.architecture));
  const auto source = [&](const codegen::Config& config) -> absl::StatusOr<std::string> {
    ASSIGN_OR_RETURN(codegen::GeneratedKernel generated, codegen::emit::Generate(ir, config, target));
    return std::move(generated.source);
  };
  ASSIGN_OR_RETURN(
      const std::unique_ptr<search::SearchAlgorithm> random,
      search::MakeSearch(
          codegen::ConfigSpaceFor(ir, target),
          {.algorithm = "random", .seed = arguments.seed, .max_configs = arguments.configs, .fingerprint = source}));
  std::vector<std::string> sources;
  while (true) {
    const std::vector<codegen::Config> configs = random->Propose();
    if (configs.empty()) return sources;
    for (const codegen::Config& config : configs) {
      ASSIGN_OR_RETURN(std::string text, source(config));
      sources.push_back(std::move(text));
    }
  }
}

// One source compiled with one set of options.
struct Compiled {
  double seconds = 0;  // CPU time of the process
  size_t bytes = 0;    // of the cubin
  int registers = 0;
  int spill_bytes = 0;
  int stack_bytes = 0;  // of a thread: arrays that are not in registers, spills included
};

double CpuSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// Returns the number before `text` in the log of ptxas: "Used 40 registers, ...".
int NumberBefore(const std::string& log, const std::string& text) {
  const size_t end = log.find(text);
  if (end == std::string::npos) return 0;
  const size_t begin = log.find_last_not_of("0123456789", end - 1) + 1;
  return begin < end ? std::stoi(log.substr(begin, end - begin)) : 0;
}

absl::StatusOr<Compiled> Compile(const Arguments& arguments, const std::string& options, const std::string& source) {
  device::SourceOptions of_source = {.options = absl::StrSplit(options, ' ', absl::SkipEmpty())};
  of_source.options.emplace_back("--ptxas-options=-v");  // prints the use of registers and memory to the log
  const std::string text = absl::StrCat(device::FormatSourceOptions(of_source), source);
  const double begin = CpuSeconds();
  const auto cache = arguments.with_cache ? device::NvrtcCache::kUsed : device::NvrtcCache::kBypassed;
  ASSIGN_OR_RETURN(const device::CompiledCode code, device::CompileCuda(text, arguments.architecture, cache));
  return Compiled{.seconds = CpuSeconds() - begin,
                  .bytes = code.binary.size(),
                  .registers = NumberBefore(code.log, " registers"),
                  .spill_bytes = NumberBefore(code.log, " bytes spill stores"),
                  .stack_bytes = NumberBefore(code.log, " bytes stack frame")};
}

void Print(const Arguments& arguments, const std::string& options, const std::vector<Compiled>& all) {
  double seconds = 0;
  size_t bytes = 0;
  std::vector<double> each;
  int registers = 0;
  int spilling = 0;
  int with_stack = 0;
  for (const Compiled& compiled : all) {
    seconds += compiled.seconds;
    bytes += compiled.bytes;
    registers += compiled.registers;
    spilling += compiled.spill_bytes > 0 ? 1 : 0;
    with_stack += compiled.stack_bytes > 0 ? 1 : 0;
    each.push_back(compiled.seconds);
  }
  const auto count = static_cast<double>(all.size());
  absl::PrintF(
      "%-12s %-44s %3d configs  mean %.4f s  median %.4f s  cubin %.1f KiB  registers %.1f  spilling %d  stack %d\n",
      arguments.kernel, options.empty() ? "(none)" : options, all.size(), seconds / count, Median(each),
      static_cast<double>(bytes) / 1024 / count, registers / count, spilling, with_stack);
  std::fflush(stdout);
}

absl::Status Save(const Arguments& arguments, const std::vector<std::string>& sources) {
  std::filesystem::create_directories(arguments.save);
  for (size_t i = 0; i < sources.size(); ++i) {
    std::ofstream(absl::StrCat(arguments.save, "/", arguments.kernel, "_", i, ".cu")) << sources[i];
  }
  return absl::OkStatus();
}

absl::Status Run(const Arguments& arguments) {
  ASSIGN_OR_RETURN(const std::vector<std::string> sources, MakeSources(arguments));
  if (!arguments.save.empty()) return Save(arguments, sources);
  // The first compilation of a process loads NVRTC's own headers.
  RETURN_IF_ERROR(Compile(arguments, "", sources.front()).status());
  std::vector<std::string> option_sets = arguments.option_sets;
  option_sets.insert(option_sets.begin(), "");
  for (const std::string& options : option_sets) {
    std::vector<Compiled> all;
    for (const std::string& source : sources) {
      ASSIGN_OR_RETURN(const Compiled compiled, Compile(arguments, options, source));
      all.push_back(compiled);
    }
    Print(arguments, options, all);
  }
  return absl::OkStatus();
}

void AddFlags(CLI::App& app, Arguments& arguments) {
  app.add_option("--kernel", arguments.kernel, "Kernel of the library")->capture_default_str();
  app.add_option("--arg", arguments.kernel_arguments, "Arguments of the kernel: x=128x64:f32");
  app.add_option("--options", arguments.option_sets, "A set of NVRTC's options, separated by spaces; may be repeated");
  app.add_option("--arch", arguments.architecture, "CUDA architecture")->capture_default_str();
  app.add_option("--configs", arguments.configs, "Number of configs")->capture_default_str();
  app.add_option("--seed", arguments.seed, "Seed of the random configs")->capture_default_str();
  app.add_flag("--with-cache", arguments.with_cache, "Let NVRTC use its cache on disk");
  app.add_option("--save", arguments.save, "Write the sources to this folder instead");
}

}  // namespace
}  // namespace telemetry::bench

int main(int argc, char** argv) {
  return telemetry::bench::BenchMain(argc, argv, "bench-compile", "Measures the time of NVRTC by sets of options",
                                     telemetry::bench::AddFlags, telemetry::bench::Run);
}
