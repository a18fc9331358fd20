#include "worker/tune/library_subject.h"

#include <future>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/kernels/draw.h"
#include "worker/kernels/fits_memory.h"
#include "worker/kernels/kernel_spec.h"
#include "worker/kernels/problem.h"
#include "worker/tune/attempt_description.h"
#include "worker/tune/baseline.h"
#include "worker/tune/bound_tunable.h"
#include "worker/tune/measure/kernel_problem.h"
#include "worker/tune/recording/run_description.h"
#include "worker/wrapper/launch_plan.h"
#include "worker/wrapper/wrapper_graph.h"

namespace telemetry::worker::tune {
namespace {

using device::Device;
using kernels::LibraryKernel;
using kernels::Problem;
using kernels::TensorSpec;
using runtime::Arguments;
using runtime::BoundKernel;
using runtime::Kernel;
using runtime::Settings;

// Returns the kernel's source followed by its flags. Flags are part of the code and therefore of the kernel's identity,
// and sidecars have no other field for them.
std::string SourceWithFlags(const LibraryKernel& kernel, const Problem& problem) {
  std::string source(kernels::SourceText(kernel.name));
  for (const kernels::NumberArgument& number : kernel.numbers) {
    if (number.is_flag)
      source += record::Cat("\n// ", number.name, "=", problem.number(number.name) != 0 ? "true" : "false", "\n");
  }
  return source;
}

// Returns the problem with two sets of inputs: `arguments`, drawn from `seed`, and those of `other_case`, drawn from
// `seed` + 1.
absl::StatusOr<measure::MeasureProblem> MakeLibraryProblem(const LibraryKernel& kernel, const Problem& problem,
                                                           const BoundKernel& bound, const Arguments& arguments,
                                                           uint64_t seed, kernels::Case other_case,
                                                           compile::CompilePool* compilers) {
  const auto tolerance = [&](std::string_view /*name*/, device::DType dtype) {
    return kernel.tolerance(problem, dtype);
  };
  ASSIGN_OR_RETURN(Arguments others, kernels::ArgumentsOn(bound.device(), kernel, other_case));
  other_case = {};
  ASSIGN_OR_RETURN(
      std::optional<measure::MeasureProblem> with_baseline,
      MakeBaselineProblem(bound, std::vector<Arguments>{arguments, others}, tolerance, {.seed = seed}, compilers));
  if (with_baseline.has_value()) return *std::move(with_baseline);
  // The values are drawn again, because a problem with a baseline may be too large to keep them.
  auto results =
      std::async(std::launch::async, [&] { return kernel.reference(kernels::MakeCase(kernel, problem, seed)); });
  measure::ExpectedTensors of_others = kernel.reference(kernels::MakeCase(kernel, problem, seed + 1));
  const std::vector<measure::ExpectedCall> calls = {{.arguments = arguments, .results = results.get()},
                                                    {.arguments = others, .results = std::move(of_others)}};
  return measure::MakeProblem(bound, calls, tolerance);
}

}  // namespace

v1::Run MakeLibraryRun(const LibraryKernel& kernel, const Problem& problem, const Settings& settings,
                       const device::DeviceProperties& device) {
  std::vector<std::vector<int64_t>> shapes;
  std::vector<std::string> dtypes;
  for (const TensorSpec& tensor : problem.tensors) {
    shapes.push_back(tensor.sizes);
    dtypes.emplace_back(TorchName(tensor.dtype));
  }
  return recording::DescribeRun({.kernel_name = kernel.name,
                                 .kernel_source = SourceWithFlags(kernel, problem),
                                 .input_shapes = recording::PythonShapes(shapes),
                                 .dtypes = recording::PythonDTypes(dtypes),
                                 .hardware = device.name,
                                 .settings = SettingsToJson(settings, device.dialect)});
}

absl::StatusOr<LibrarySubject> MakeLibrarySubject(const LibraryKernel& kernel, const Problem& problem,
                                                  const Settings& settings, const std::shared_ptr<Device>& device,
                                                  uint64_t input_seed) {
  RETURN_IF_ERROR(kernels::CheckFitsMemory(problem));
  runtime::KernelSpec spec = kernels::MakeKernelSpec(kernel);
  spec.settings = settings;
  ASSIGN_OR_RETURN(std::unique_ptr<Kernel> made, Kernel::Create(std::move(spec)));
  // The values of the second set of inputs are drawn while those of the first one are. Another attempt draws them
  // again.
  const auto draw_other = [&kernel, problem, input_seed] { return kernels::MakeCase(kernel, problem, input_seed + 1); };
  const auto drawn = std::make_shared<std::future<kernels::Case>>(std::async(std::launch::async, draw_other));
  ASSIGN_OR_RETURN(Arguments arguments,
                   kernels::ArgumentsOn(device, kernel, kernels::MakeCase(kernel, problem, input_seed)));
  absl::StatusOr<std::shared_ptr<BoundKernel>> bound = made->Bind(arguments);
  if (!bound.ok()) return bound.status();

  ASSIGN_OR_RETURN(wrapper::Plan plan, wrapper::PlanOfLaunch(kernel, problem));

  LibrarySubject subject = {.kernel = std::move(made), .bound = *bound, .arguments = arguments};
  subject.info = DescribeAttempt(**bound, MakeLibraryRun(kernel, problem, settings, device->properties()));
  subject.info.wrapper_graph = wrapper::WrapperGraph(plan, device->id());
  subject.subject = {.kernel = std::make_shared<BoundTunable>(*bound, arguments),
                     .measure_problem = [&kernel, problem, bound = *bound, arguments, input_seed, draw_other,
                                         drawn](compile::CompilePool* compilers) {
                       kernels::Case other = drawn->valid() ? drawn->get() : draw_other();
                       return MakeLibraryProblem(kernel, problem, *bound, arguments, input_seed, std::move(other),
                                                 compilers);
                     }};
  return subject;
}

}  // namespace telemetry::worker::tune
