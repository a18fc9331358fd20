#include "worker/tune/bound_call.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "proto/base/status_macros.h"
#include "proto/record/numbers.h"
#include "proto/record/strings.h"
#include "worker/runtime/leaves.h"
#include "worker/tune/baseline.h"
#include "worker/tune/bound_tunable.h"
#include "worker/tune/recording/run_description.h"

namespace telemetry::worker::tune {
namespace {

using device::DType;
using record::Cat;
using runtime::Arguments;
using runtime::BoundKernel;
using runtime::KernelDefinition;
using runtime::Leaves;

std::string ConstantText(const runtime::Argument& constant) {
  if (const auto* flag = constant.As<bool>()) return *flag ? "true" : "false";
  if (const auto* integer = constant.As<int64_t>()) return Cat(*integer);
  if (const auto* number = constant.As<double>()) return record::FloatRepr(*number);
  if (const auto* text = constant.As<std::string>()) return *text;
  if (const auto* dtype = constant.As<DType>()) return std::string(TorchName(*dtype));
  if (const auto* function = constant.As<runtime::FunctionRef>()) return function->name;
  return constant.TypeName();
}

// Returns the kernel's source followed by its constants. Constants are part of the code and therefore of the kernel's
// identity, and sidecars have no other field for them.
absl::StatusOr<std::string> SourceWithConstants(const KernelDefinition& definition, const Arguments& arguments,
                                                const Leaves& leaves) {
  if (definition.source.empty()) {
    return absl::FailedPreconditionError(
        Cat("kernel '", definition.name, "' has no source, which identifies its runs; set KernelSpec::source"));
  }
  ASSIGN_OR_RETURN(const runtime::LeafNames names, runtime::NameLeaves(definition.signature, arguments));
  std::string source = definition.source;
  for (size_t i = 0; i < leaves.constants.size(); ++i) {
    source += Cat("\n// ", names.constants[i], "=", ConstantText(*leaves.constants[i]), "\n");
  }
  return source;
}

bool HasDots(const ir::DeviceIr& ir) {
  return std::any_of(ir.graphs.begin(), ir.graphs.end(), [](const ir::Graph& graph) {
    return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                       [](const ir::Node& node) { return node.op == ir::Op::kDot; });
  });
}

absl::StatusOr<measure::MeasureProblem> MakeCallProblem(const BoundKernel& kernel, const Arguments& arguments,
                                                        const measure::ToleranceFunction& tolerance,
                                                        compile::CompilePool* compilers) {
  ASSIGN_OR_RETURN(std::optional<measure::MeasureProblem> with_baseline,
                   MakeBaselineProblem(kernel, {arguments}, tolerance, {}, compilers));
  if (with_baseline.has_value()) return *std::move(with_baseline);
  ASSIGN_OR_RETURN(measure::ExpectedTensors results, measure::EvaluateCall(kernel, arguments));
  return measure::MakeProblem(kernel, {measure::ExpectedCall{arguments, std::move(results)}}, tolerance);
}

}  // namespace

absl::StatusOr<v1::Run> MakeCallRun(const BoundKernel& kernel, const Arguments& arguments) {
  if (kernel.device() == nullptr) {
    return absl::FailedPreconditionError(
        Cat("kernel '", kernel.name(), "' is in reference mode: there is nothing to measure"));
  }
  const KernelDefinition& definition = kernel.definition();
  const Leaves leaves = runtime::CollectLeaves(definition.signature, arguments);
  ASSIGN_OR_RETURN(std::string source, SourceWithConstants(definition, arguments, leaves));
  std::vector<std::vector<int64_t>> shapes;
  std::vector<std::string> dtypes;
  for (const runtime::Tensor* tensor : leaves.tensors) {
    shapes.emplace_back(tensor->sizes.begin(), tensor->sizes.end());
    dtypes.emplace_back(TorchName(tensor->dtype));
  }
  const device::DeviceProperties& device = kernel.device()->properties();
  return recording::DescribeRun({.kernel_name = kernel.name(),
                                 .kernel_source = std::move(source),
                                 .input_shapes = recording::PythonShapes(shapes),
                                 .dtypes = recording::PythonDTypes(dtypes),
                                 .hardware = device.name,
                                 .settings = SettingsToJson(definition.settings, device.dialect)});
}

TuneSubject MakeCallSubject(BoundKernel& kernel, const Arguments& arguments, measure::ToleranceFunction tolerance) {
  return {.kernel =
              std::make_shared<BoundTunable>(std::shared_ptr<BoundKernel>(std::shared_ptr<void>(), &kernel), arguments),
          .measure_problem = [&kernel, arguments, tolerance = std::move(tolerance)](compile::CompilePool* compilers) {
            return MakeCallProblem(kernel, arguments, tolerance, compilers);
          }};
}

ir::Tolerance UsualTolerance(const BoundKernel& kernel, DType dtype) {
  const bool coarse = kernel.definition().settings.dot_precision == runtime::DotPrecision::kTf32 && IsFloat(dtype) &&
                      HasDots(kernel.ir());
  return ir::ToleranceFor(coarse && dtype == DType::kF32 ? DType::kF16 : dtype);
}

}  // namespace telemetry::worker::tune
