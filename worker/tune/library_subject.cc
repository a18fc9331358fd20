#include "worker/tune/library_subject.h"

#include <utility>

#include "absl/time/clock.h"
#include "proto/record/sidecar_record.h"
#include "proto/record/strings.h"
#include "spdlog/spdlog.h"
#include "worker/ir/ir_graph_record.h"
#include "worker/kernels/kernel_spec.h"
#include "worker/kernels/problem.h"
#include "worker/tune/measure/kernel_problem.h"
#include "worker/tune/record/environment.h"
#include "worker/tune/record/run_description.h"

namespace telemetry::worker::tune {
namespace {

using kernels::Case;
using kernels::LibraryKernel;
using kernels::Problem;
using kernels::TensorSpec;
using record::Json;

// A flag is part of the code, and so of the kernel's identity; sidecars have no other place for it.
std::string SourceOf(const LibraryKernel& kernel, const Problem& problem) {
  std::string source(kernels::SourceText(kernel.name));
  for (const kernels::NumberArgument& number : kernel.numbers) {
    if (number.is_flag)
      source += record::Cat("\n// ", number.name, "=", problem.number(number.name) != 0 ? "true" : "false", "\n");
  }
  return source;
}

Json DeviceJson(const DeviceProperties& device) {
  Json object = Json::Object();
  object.members = {{"name", Json::String(device.name)},
                    {"architecture", Json::String(device.architecture)},
                    {"driver_version", Json::String(device.driver_version)},
                    {"runtime_version", Json::String(device.runtime_version)},
                    {"compute_units", Json::Integer(device.compute_units)},
                    {"global_bytes", Json::Integer(static_cast<int64_t>(device.global_bytes))},
                    {"l2_bytes", Json::Integer(static_cast<int64_t>(device.l2_bytes))},
                    {"clock_khz", Json::Integer(device.clock_khz)},
                    {"memory_clock_khz", Json::Integer(device.memory_clock_khz)},
                    {"memory_bus_bits", Json::Integer(device.memory_bus_bits)}};
  return object;
}

absl::StatusOr<v1::IrGraph> GraphOf(const BoundKernel& kernel, const v1::Run& run) {
  const Json record =
      ir::ExtractIrGraph(kernel.ir(), {.run_id = run.run_id(),
                                       .kernel_id = run.kernel_id(),
                                       .kernel_name = run.kernel_name(),
                                       .input_shapes = run.input_shapes(),
                                       .device = kernel.device()->id(),
                                       .on_warning = [](const std::string& warning) { spdlog::warn("{}", warning); }});
  return record::ParseIrRecord(record);
}

absl::StatusOr<ExpectedCall> CallOf(const LibraryKernel& kernel, const Problem& problem,
                                    const std::shared_ptr<Device>& device, uint64_t seed) {
  const Case made = kernels::MakeCase(kernel, problem, seed);
  absl::StatusOr<Arguments> arguments = kernels::ArgumentsOn(device, kernel, made);
  if (!arguments.ok()) return arguments.status();
  return ExpectedCall{*std::move(arguments), kernel.reference(made)};
}

absl::StatusOr<MeasureProblem> MakeProblemOf(const LibraryKernel& kernel, const Problem& problem,
                                             const BoundKernel& bound, uint64_t seed) {
  std::vector<ExpectedCall> calls;
  for (const uint64_t number : {seed, seed + 1}) {
    absl::StatusOr<ExpectedCall> call = CallOf(kernel, problem, bound.device(), number);
    if (!call.ok()) return call.status();
    calls.push_back(*std::move(call));
  }
  const auto tolerance = [&](std::string_view /*name*/, DType dtype) { return kernel.tolerance(problem, dtype); };
  return ProblemOf(bound, calls, tolerance);
}

}  // namespace

v1::Run RunOf(const LibraryKernel& kernel, const Problem& problem, const Settings& settings,
              const DeviceProperties& device) {
  std::vector<std::vector<int64_t>> shapes;
  std::vector<std::string> dtypes;
  for (const TensorSpec& tensor : problem.tensors) {
    shapes.push_back(tensor.sizes);
    dtypes.emplace_back(TorchName(tensor.dtype));
  }
  return DescribeRun({.kernel_name = kernel.name,
                      .kernel_source = SourceOf(kernel, problem),
                      .input_shapes = PythonShapes(shapes),
                      .dtypes = PythonDTypes(dtypes),
                      .hardware = device.name,
                      .settings = SettingsToJson(settings, device.dialect)});
}

absl::StatusOr<LibrarySubject> SubjectOf(const LibraryKernel& kernel, const Problem& problem, const Settings& settings,
                                         const std::shared_ptr<Device>& device, uint64_t input_seed) {
  KernelSpec spec = kernels::SpecOf(kernel);
  spec.settings = settings;
  absl::StatusOr<std::unique_ptr<Kernel>> made = Kernel::Create(std::move(spec));
  if (!made.ok()) return made.status();
  absl::StatusOr<Arguments> arguments =
      kernels::ArgumentsOn(device, kernel, kernels::MakeCase(kernel, problem, input_seed));
  if (!arguments.ok()) return arguments.status();
  absl::StatusOr<std::shared_ptr<BoundKernel>> bound = (*made)->Bind(*arguments);
  if (!bound.ok()) return bound.status();

  LibrarySubject subject = {.kernel = *std::move(made)};
  subject.info = {.attempt_id = NewAttemptId(),
                  .run = RunOf(kernel, problem, settings, device->properties()),
                  .environment = Environment(DeviceJson(device->properties())),
                  .started = absl::FromUnixMicros(absl::ToUnixMicros(absl::Now()))};
  absl::StatusOr<v1::IrGraph> graph = GraphOf(**bound, subject.info.run);
  // What is measured is worth more than its graph.
  if (graph.ok()) {
    subject.info.ir_graph = *std::move(graph);
  } else {
    spdlog::warn("{}: no IR graph: {}", kernel.name, std::string(graph.status().message()));
  }
  subject.subject = {.kernel = *bound,
                     .arguments = *std::move(arguments),
                     .measure_problem = [&kernel, problem, bound = *bound, input_seed] {
                       return MakeProblemOf(kernel, problem, *bound, input_seed);
                     }};
  return subject;
}

}  // namespace telemetry::worker::tune
