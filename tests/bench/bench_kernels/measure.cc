#include "tests/bench/bench_kernels/measure.h"

#include <fstream>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "worker/kernels/draw.h"
#include "worker/kernels/kernel_spec.h"
#include "worker/kernels/library.h"
#include "worker/kernels/trace_problem.h"
#include "worker/runtime/kernel.h"

namespace telemetry::bench {
namespace {

namespace kernels = worker::kernels;
using worker::runtime::Tensor;

constexpr uint64_t kSeed = 3;

absl::StatusOr<worker::codegen::Config> MakeConfig(const worker::runtime::BoundKernel& bound, const std::string& text) {
  if (text.empty()) return bound.config_space().Default();
  absl::StatusOr<worker::codegen::Config> config = worker::codegen::Config::Parse(text);
  if (!config.ok()) return config.status();
  return bound.config_space().Normalize(*config);
}

absl::Status CheckOutputs(const kernels::LibraryKernel& kernel, const kernels::Case& made,
                          const std::vector<kernels::TensorSpec>& specs, const std::vector<Tensor>& outputs) {
  const kernels::Outputs expected = kernel.reference(made);
  for (size_t i = 0; i < specs.size(); ++i) {
    absl::StatusOr<worker::ir::HostArray> actual = worker::runtime::ToHost(outputs[i]);
    if (!actual.ok()) return actual.status();
    const worker::ir::Comparison comparison =
        worker::ir::Compare(expected.at(specs[i].name), *actual, kernel.tolerance(made.problem, actual->dtype));
    if (!comparison.ok()) return absl::DataLossError(absl::StrCat(specs[i].name, ": ", comparison.ToString()));
  }
  return absl::OkStatus();
}

// Writes NAME.cu and NAME.cubin; `cuobjdump --dump-sass` reads the latter.
absl::Status Dump(worker::device::Device* device, const std::string& source, const std::string& base) {
  absl::StatusOr<worker::device::CompiledCode> code = device->Compile(source);
  if (!code.ok()) return code.status();
  const bool is_cuda = device->properties().dialect == worker::device::Dialect::kCuda;
  const std::vector<std::pair<std::string, const std::string*>> files = {
      {absl::StrCat(base, is_cuda ? ".cu" : ".cl"), &source},
      {absl::StrCat(base, is_cuda ? ".cubin" : ".bin"), &code->binary}};
  for (const auto& [path, text] : files) {
    std::ofstream file(path, std::ios::binary);
    if (!(file << *text).flush()) return absl::UnavailableError(absl::StrCat(path, ": cannot be written"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Measurement> Measure(const std::shared_ptr<worker::device::Device>& device, Stopwatch* stopwatch,
                                    const BenchCase& bench_case, const MeasureOptions& options) {
  absl::StatusOr<const kernels::LibraryKernel*> library_kernel = kernels::FindKernel(bench_case.kernel);
  if (!library_kernel.ok()) return absl::InvalidArgumentError(library_kernel.status().message());
  absl::StatusOr<kernels::Problem> problem = kernels::ParseProblem(**library_kernel, bench_case.arguments);
  if (!problem.ok()) return problem.status();
  const kernels::Case made = kernels::MakeCase(**library_kernel, *std::move(problem), kSeed);

  absl::StatusOr<std::unique_ptr<worker::runtime::Kernel>> kernel =
      worker::runtime::Kernel::Create(kernels::MakeKernelSpec(**library_kernel));
  if (!kernel.ok()) return kernel.status();
  absl::StatusOr<worker::runtime::Arguments> arguments = kernels::ArgumentsOn(device, **library_kernel, made);
  if (!arguments.ok()) return arguments.status();
  absl::StatusOr<std::shared_ptr<worker::runtime::BoundKernel>> bound = (*kernel)->Bind(*arguments);
  if (!bound.ok()) return bound.status();
  absl::StatusOr<worker::codegen::Config> config = MakeConfig(**bound, bench_case.config);
  if (!config.ok()) return config.status();
  absl::StatusOr<std::shared_ptr<worker::runtime::CompiledKernel>> compiled = (*bound)->CompileConfig(*config);
  if (!compiled.ok()) return compiled.status();
  absl::StatusOr<std::vector<Tensor>> outputs = (*bound)->AllocateOutputs(*arguments);
  if (!outputs.ok()) return outputs.status();

  const auto launch = [&] { return (*bound)->Launch(**compiled, *arguments, *outputs); };
  if (absl::Status status = launch(); !status.ok()) return status;
  const std::vector<kernels::TensorSpec> specs = kernels::ListOutputs((*bound)->ir());
  if (absl::Status status = CheckOutputs(**library_kernel, made, specs, *outputs); !status.ok()) return status;

  const kernels::Cost cost = kernels::ComputeCost(**library_kernel, made.problem, specs);
  const worker::device::FunctionAttributes attributes = (*compiled)->attributes();
  Measurement measurement = {.kernel = bench_case.kernel,
                             .arguments = made.problem.ToString(),
                             .config = config->ToString(),
                             .bytes = cost.bytes,
                             .flops = cost.flops,
                             .registers = attributes.registers,
                             .spill_bytes = attributes.spill_bytes};
  absl::StatusOr<double> ms = stopwatch->MedianMs(launch);
  if (!ms.ok()) return ms.status();
  measurement.ms = *ms;
  absl::StatusOr<double> copy = stopwatch->CopyBandwidth(static_cast<int64_t>(cost.bytes));
  if (!copy.ok()) return copy.status();
  measurement.copy_bytes_per_s = *copy;
  if (options.dump_dir.empty()) return measurement;
  const std::string base =
      absl::StrCat(options.dump_dir, "/", bench_case.kernel, "_", absl::Hex(config->id(), absl::kZeroPad16));
  if (absl::Status status = Dump(device.get(), (*compiled)->generated().source, base); !status.ok()) return status;
  return measurement;
}

}  // namespace telemetry::bench
