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

// The inputs of an attempt, which other threads may still be drawing.
class Inputs {
 public:
  Inputs(const LibraryKernel& kernel, Problem problem, uint64_t seed, DrawnInputs drawn)
      : kernel_(kernel), problem_(std::move(problem)), seed_(seed), drawn_(std::move(drawn)) {}

  // Return the values, which are drawn again at the second call, because a problem may be too large to keep them.
  kernels::Case TakeFirst() { return Take(drawn_.first, seed_); }
  kernels::Case TakeSecond() { return Take(drawn_.second, seed_ + 1); }
  const LibraryKernel& kernel() const { return kernel_; }
  const Problem& problem() const { return problem_; }
  uint64_t seed() const { return seed_; }

 private:
  kernels::Case Take(std::future<kernels::Case>& drawn, uint64_t seed) const {
    return drawn.valid() ? drawn.get() : kernels::MakeCase(kernel_, problem_, seed);
  }

  const LibraryKernel& kernel_;
  const Problem problem_;
  const uint64_t seed_;
  DrawnInputs drawn_;
};

// Returns the problem with the two sets of inputs.
absl::StatusOr<measure::MeasureProblem> MakeLibraryProblem(const std::shared_ptr<Inputs>& inputs,
                                                           const std::shared_ptr<BoundKernel>& bound,
                                                           const process::StepReport& on_step,
                                                           compile::CompilePool* compilers) {
  const LibraryKernel& kernel = inputs->kernel();
  const auto tolerance = [&](std::string_view /*name*/, device::DType dtype) {
    return kernel.tolerance(inputs->problem(), dtype);
  };
  std::vector<Arguments> first;
  {
    const process::ReportedStep step(on_step, "inputs");
    first.push_back(kernels::ArgumentsOnHost(kernel, inputs->TakeFirst()));
  }
  const auto second = [inputs, bound] { return kernels::ArgumentsOnHost(inputs->kernel(), inputs->TakeSecond()); };
  ASSIGN_OR_RETURN(std::optional<measure::MeasureProblem> with_baseline,
                   MakeBaselineProblem(*bound, std::move(first), tolerance,
                                       {.seed = inputs->seed(), .on_step = on_step, .last = second}, compilers));
  if (with_baseline.has_value()) return *std::move(with_baseline);
  const process::ReportedStep step(on_step, "reference");
  const auto expected = [&](kernels::Case made) {
    measure::ExpectedTensors results = kernel.reference(made);
    return measure::ExpectedCall{.arguments = kernels::ArgumentsOnHost(kernel, std::move(made)),
                                 .results = std::move(results)};
  };
  auto of_first = std::async(std::launch::async, [&] { return expected(inputs->TakeFirst()); });
  measure::ExpectedCall of_second = expected(inputs->TakeSecond());
  return measure::MakeProblem(*bound, {of_first.get(), std::move(of_second)}, tolerance);
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

absl::StatusOr<DrawnInputs> DrawnInputs::Begin(const LibraryKernel& kernel, const Problem& problem, uint64_t seed) {
  RETURN_IF_ERROR(kernels::CheckFitsMemory(problem));
  const auto draw = [&kernel, &problem](uint64_t of) {
    return std::async(std::launch::async, [&kernel, problem, of] { return kernels::MakeCase(kernel, problem, of); });
  };
  return DrawnInputs{.first = draw(seed), .second = draw(seed + 1)};
}

absl::StatusOr<BoundLibraryKernel> BindLibraryKernel(const LibraryKernel& kernel, const Problem& problem,
                                                     const Settings& settings, const std::shared_ptr<Device>& device) {
  runtime::KernelSpec spec = kernels::MakeKernelSpec(kernel);
  spec.settings = settings;
  ASSIGN_OR_RETURN(std::unique_ptr<Kernel> made, Kernel::Create(std::move(spec)));
  BoundLibraryKernel result = {.arguments = kernels::DescribedArguments(device, kernel, problem)};
  ASSIGN_OR_RETURN(result.bound, made->Bind(result.arguments));
  result.kernel = std::move(made);
  return result;
}

absl::StatusOr<LibrarySubject> MakeLibrarySubject(const LibraryKernel& kernel, const Problem& problem,
                                                  const Settings& settings, const std::shared_ptr<Device>& device,
                                                  uint64_t input_seed, DrawnInputs inputs,
                                                  process::StepReport on_step) {
  if (!inputs.first.valid()) {
    ASSIGN_OR_RETURN(inputs, DrawnInputs::Begin(kernel, problem, input_seed));
  }
  const auto both = std::make_shared<Inputs>(kernel, problem, input_seed, std::move(inputs));
  ASSIGN_OR_RETURN(BoundLibraryKernel bound, BindLibraryKernel(kernel, problem, settings, device));
  ASSIGN_OR_RETURN(wrapper::Plan plan, wrapper::PlanOfLaunch(kernel, problem));

  LibrarySubject subject = {std::move(bound)};
  subject.info = DescribeAttempt(*subject.bound, MakeLibraryRun(kernel, problem, settings, device->properties()));
  subject.info.wrapper_graph = wrapper::WrapperGraph(plan, device->id());
  subject.subject = {
      .kernel = std::make_shared<BoundTunable>(subject.bound, subject.arguments),
      .measure_problem = [both, bound = subject.bound, on_step = std::move(on_step)](compile::CompilePool* compilers) {
        return MakeLibraryProblem(both, bound, on_step, compilers);
      }};
  return subject;
}

}  // namespace telemetry::worker::tune
