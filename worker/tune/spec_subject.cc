#include "worker/tune/spec_subject.h"

#include <utility>
#include <vector>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/tune/attempt_description.h"
#include "worker/tune/recording/run_description.h"
#include "worker/tune/spec_reference.h"

namespace telemetry::worker::tune {
namespace {

using record::Cat;
using spec::Argument;
using spec::Fill;
using spec::LaunchExpressions;
using spec::Specification;

std::string FillText(const Fill& fill) {
  switch (fill.kind) {
    case Fill::Kind::kConstant:
      return fill.value.ToString();
    case Fill::Kind::kRandom:
      return Cat("random * ", fill.value.ToString());
    case Fill::Kind::kRange:
      return Cat("range * ", fill.value.ToString());
    case Fill::Kind::kRawFile:
    case Fill::Kind::kNpyFile:
      break;
  }
  return "file";
}

// Returns the facts of the specification that the time of a config depends on, as lines of comments.
std::string FactLines(const Specification& spec) {
  const LaunchExpressions& launch = spec.launch;
  std::string lines = Cat("// kernel: ", spec.kernel_name, "\n");
  lines += Cat("// ProblemSize: ", spec::Value::List(&spec.problem_size).ToString(), "\n");
  for (size_t axis = 0; axis < 3; ++axis) {
    lines += Cat("// launch: ", launch.threads[axis].text(), " threads, ", launch.grid[axis].text(),
                 launch.grid_is_threads ? " threads in all" : " blocks");
    for (const spec::Expression& divisor : launch.divisors[axis]) lines += Cat(" / (", divisor.text(), ")");
    lines += "\n";
  }
  lines += Cat("// shared memory: ", launch.shared_bytes.text(), "\n");
  for (const Argument& argument : spec.arguments) {
    lines += Cat("// ", argument.name, ": ", spec::ShortName(argument.type.element), " x ", argument.values(), ", ",
                 FillText(argument.fill), "\n");
  }
  return lines;
}

// The largest number of values of a space that an attempt's environment lists.
constexpr size_t kMostListedValues = 10000;

// Adds the parameters with their values, and the problem size, to the description of an attempt's environment. An
// export for Kernel Tuner needs them.
void AddSpace(const Specification& spec, record::Json* environment) {
  record::Json space = record::Json::Object();
  size_t count = 0;
  for (const spec::Parameter& parameter : spec.parameters) {
    record::Json values = record::Json::Array();
    for (const spec::Value& value : parameter.values) values.items.push_back(value.ToJson());
    count += values.items.size();
    space.members.emplace_back(parameter.name, std::move(values));
    if (count > kMostListedValues) return;
  }
  environment->members.emplace_back("space", std::move(space));
  environment->members.emplace_back("problem_size", spec::Value::List(&spec.problem_size).ToJson());
}

}  // namespace

v1::Run MakeSpecRun(const SpecKernel& kernel, const device::DeviceProperties& device) {
  const Specification& spec = kernel.specification();
  std::vector<std::vector<int64_t>> shapes;
  std::vector<std::string> dtypes;
  for (const Argument& argument : spec.arguments) {
    if (argument.memory != Argument::Memory::kVector) continue;
    shapes.push_back({argument.values()});
    dtypes.emplace_back(spec::TorchName(argument.type.element));
  }
  return recording::DescribeRun({.kernel_name = spec.kernel_name,
                                 .kernel_source = kernel.source().text() + FactLines(spec),
                                 .input_shapes = recording::PythonShapes(shapes),
                                 .dtypes = recording::PythonDTypes(dtypes),
                                 .hardware = device.name});
}

absl::StatusOr<SpecSubject> MakeSpecSubject(std::shared_ptr<const Specification> spec,
                                            const std::shared_ptr<device::Device>& device,
                                            process::StepReport on_step) {
  ASSIGN_OR_RETURN(std::shared_ptr<const SpecKernel> kernel, SpecKernel::Create(std::move(spec), device));
  RETURN_IF_ERROR(CheckMemory(*kernel));
  SpecSubject subject;
  subject.info = DescribeAttempt(device->properties(), MakeSpecRun(*kernel, device->properties()));
  AddSpace(kernel->specification(), &subject.info.environment);
  subject.subject = {.kernel = kernel,
                     .measure_problem = [kernel, on_step = std::move(on_step)](compile::CompilePool* compilers) {
                       return MakeSpecProblem(*kernel, on_step, compilers);
                     }};
  return subject;
}

}  // namespace telemetry::worker::tune
