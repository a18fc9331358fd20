#include "worker/wrapper/program/program_model.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "absl/strings/str_join.h"
#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/codegen/config_space.h"
#include "worker/codegen/emit/generate.h"
#include "worker/device/compile_options.h"
#include "worker/device/device.h"
#include "worker/kernels/trace_problem.h"
#include "worker/wrapper/matrix_product.h"
#include "worker/wrapper/program/plan_values.h"
#include "worker/wrapper/size_class.h"
#include "worker/wrapper/verify_plan.h"

namespace telemetry::worker::wrapper::program {

using device::kViewAlignment;
using record::Cat;

namespace {

bool HasDots(const ir::DeviceIr& ir) {
  for (const ir::Graph& graph : ir.graphs) {
    const auto is_dot = [](const ir::Node& node) { return node.op == ir::Op::kDot; };
    if (std::any_of(graph.nodes.begin(), graph.nodes.end(), is_dot)) return true;
  }
  return false;
}

class ModelMaker {
 public:
  ModelMaker(const Plan& plan, const ProgramOptions& options, CheckExtern check_extern)
      : plan_(plan),
        check_extern_(check_extern),
        model_{.plan = &plan, .options = options, .places = ComputePlaces(plan)} {}

  absl::StatusOr<ProgramModel> Make() {
    for (size_t i = 0; i < plan_.lines.size(); ++i) {
      absl::Status status = AddLine(plan_.lines[i]);
      if (status.ok()) continue;
      return absl::Status(status.code(), Cat("plan '", plan_.name, "', line ", i, " (", plan_.LineText(plan_.lines[i]),
                                             "): ", status.message()));
    }
    model_.debug_inputs = MakeDebugInputs(plan_, model_.options.debug);
    model_.ranges = InputRanges(plan_);
    ASSIGN_OR_RETURN(const auto results, EvaluatePlan(plan_, DrawInputs(plan_, model_.ranges, model_.options.seed),
                                                      model_.options.references));
    const std::vector<ir::Tolerance> tolerances = OutputTolerances(plan_, has_coarse_dots_);
    for (size_t i = 0; i < results.size(); ++i) {
      model_.expected.push_back(MakeExpectation(results.at(i), tolerances[i]));
    }
    return std::move(model_);
  }

 private:
  absl::Status AddLine(const Line& line) {
    model_.launches.emplace_back();
    model_.debug_calls.push_back(MakeDebugCall(plan_, model_.places, model_.options.debug, line));
    if (const auto* view = std::get_if<Reinterpret>(&line)) return CheckView(*view);
    const KernelCall* call = AsKernelCall(line);
    if (call == nullptr) return absl::OkStatus();
    if (std::holds_alternative<CallKernel>(line)) {
      return plan_.kernel(call->kernel).source == nullptr ? AddLaunch(*call) : AddSourceLaunch(*call);
    }
    return check_extern_(plan_.kernel(call->kernel));
  }

  // Checks that a view begins where a device allows buffers to begin: the generated code depends on that.
  absl::Status CheckView(const Reinterpret& view) {
    const PlanBuffer& buffer = plan_.buffer(view.view);
    const int64_t offset = model_.places[static_cast<size_t>(view.view)].offset;
    const int64_t offset_bytes = offset * static_cast<int64_t>(SizeOf(buffer.dtype));
    if (buffer.span() == 0 || offset_bytes % static_cast<int64_t>(kViewAlignment) == 0) return absl::OkStatus();
    return absl::InvalidArgumentError(
        Cat("view: offset ", offset_bytes, " is not a multiple of ", kViewAlignment, " bytes"));
  }

  absl::Status AddLaunch(const KernelCall& call) {
    const PlanKernel& kernel = plan_.kernel(call.kernel);
    std::vector<std::vector<int64_t>> strides;
    for (const int argument : call.arguments) strides.push_back(plan_.buffer(argument).strides);
    const absl::StatusOr<ir::DeviceIr> ir =
        kernels::TraceProblem(*kernel.library, MakeCallProblem(kernel, call), strides);
    if (!ir.ok()) return ir.status();
    ASSIGN_OR_RETURN(codegen::GeneratedKernel generated, Generate(*ir, kernel));
    const bool takes_f32 = std::any_of(ir->tensors.begin(), ir->tensors.end(), [](const ir::HostTensor& tensor) {
      return tensor.dtype == device::DType::kF32;
    });
    if (model_.options.generate.allow_tf32 && takes_f32 && HasDots(*ir)) has_coarse_dots_ = true;
    ProgramLaunch& launch = model_.launches.back();
    launch.grid = generated.GridSize(ir->tensors);
    launch.arguments = MakeProgramArguments(*ir, generated, call);
    launch.kernel = Define(call.kernel, std::move(generated));
    return absl::OkStatus();
  }

  absl::Status AddSourceLaunch(const KernelCall& call) {
    const SourceKernel& kernel = *plan_.kernel(call.kernel).source;
    if (kernel.dialect != model_.options.target.dialect) {
      const std::string_view language = LanguageName(kernel.dialect);
      return absl::InvalidArgumentError(
          Cat("kernel '", kernel.declaration.name, "' is written in ", language, ": write a program for ", language));
    }
    ProgramLaunch& launch = model_.launches.back();
    for (const SourceParameter& parameter : kernel.parameters) {
      if (const auto* argument = std::get_if<SourceArgument>(&parameter)) {
        launch.arguments.emplace_back(BufferArgument{call.arguments[argument->index]});
      } else if (const auto* output = std::get_if<SourceOutput>(&parameter)) {
        launch.arguments.emplace_back(BufferArgument{call.outputs[output->index]});
      } else {
        launch.arguments.emplace_back(&std::get<SourceNumber>(parameter));
      }
    }
    launch.kernel = Define(call.kernel, {.source = kernel.code.source, .function = kernel.code.function});
    return absl::OkStatus();
  }

  absl::StatusOr<codegen::GeneratedKernel> Generate(const ir::DeviceIr& ir, const PlanKernel& kernel) {
    const codegen::Target& target = model_.options.target;
    const codegen::ConfigSpace space = codegen::ConfigSpaceFor(ir, target);
    ASSIGN_OR_RETURN(const codegen::Config config, space.Normalize(kernel.config.value_or(codegen::Config())));
    return codegen::emit::Generate(ir, config, target, model_.options.generate);
  }

  std::vector<ProgramArgument> MakeProgramArguments(const ir::DeviceIr& ir, const codegen::GeneratedKernel& generated,
                                                    const KernelCall& call) {
    using Kind = codegen::Parameter::Kind;
    std::vector<ProgramArgument> arguments;
    for (const codegen::Parameter& parameter : generated.parameters) {
      const auto index = static_cast<size_t>(parameter.index);
      if (parameter.kind == Kind::kScalar) {
        const kernels::Problem problem = MakeCallProblem(plan_.kernel(call.kernel), call);
        arguments.emplace_back(static_cast<float>(problem.number(ir.scalars[index].name)));
        continue;
      }
      const size_t inputs = call.arguments.size();
      const int buffer = index < inputs ? call.arguments[index] : call.outputs[index - inputs];
      const PlanBuffer& layout = plan_.buffer(buffer);
      const auto dimension = static_cast<size_t>(parameter.dimension);
      if (parameter.kind == Kind::kTensor) {
        arguments.emplace_back(BufferArgument{buffer});
      } else {
        arguments.emplace_back(parameter.kind == Kind::kSize ? layout.sizes[dimension] : layout.strides[dimension]);
      }
    }
    return arguments;
  }

  int Define(int kernel, codegen::GeneratedKernel generated) {
    int of_this_kernel = 0;
    for (size_t i = 0; i < model_.kernels.size(); ++i) {
      if (model_.kernels[i].kernel != kernel) continue;
      if (model_.kernels[i].generated.source == generated.source) return static_cast<int>(i);
      ++of_this_kernel;
    }
    const std::string& name = plan_.kernel(kernel).name;
    model_.kernels.push_back({.name = of_this_kernel == 0 ? name : Cat(name, "_strided_", of_this_kernel),
                              .kernel = kernel,
                              .generated = std::move(generated),
                              .source = plan_.kernel(kernel).source.get()});
    return static_cast<int>(model_.kernels.size()) - 1;
  }

  const Plan& plan_;
  const CheckExtern check_extern_;
  ProgramModel model_;
  bool has_coarse_dots_ = false;
};

}  // namespace

absl::StatusOr<ProgramModel> MakeProgramModel(const Plan& plan, const ProgramOptions& options,
                                              CheckExtern check_extern) {
  RETURN_IF_ERROR(VerifyPlan(plan));
  return ModelMaker(plan, options, check_extern).Make();
}

absl::StatusOr<std::vector<ProgramModel>> MakeShapeModels(absl::Span<const PlanShape> shapes,
                                                          const ProgramOptions& options, CheckExtern check_extern) {
  if (shapes.empty()) return absl::InvalidArgumentError("a program has at least one shape");
  std::vector<ProgramModel> models;
  for (const PlanShape& shape : shapes) {
    absl::StatusOr<ProgramModel> model = MakeProgramModel(shape.plan, options, check_extern);
    if (!model.ok()) {
      return absl::Status(model.status().code(), Cat("at ", absl::StrJoin(shape.sizes, ", ", absl::PairFormatter("=")),
                                                     ": ", model.status().message()));
    }
    models.push_back(*std::move(model));
  }
  return models;
}

std::vector<std::string> SourceCompileOptions(const ProgramModel& model, const SourceKernel& kernel) {
  const device::SourceOptions options = device::ReadSourceOptions(kernel.code.source);
  return kernel.dialect == device::Dialect::kCuda
             ? device::CudaCompileOptions(Cat("sm_", model.options.target.sm), options)
             : device::OpenClCompileOptions(options);
}

int64_t AllocatedElements(const PlanBuffer& buffer) {
  return SizeClass(buffer.bytes()) / static_cast<int64_t>(SizeOf(buffer.dtype));
}

absl::StatusOr<ExternKind> FindExternKind(const PlanKernel& kernel) {
  const std::string& name = kernel.library->name;
  if (name == "matmul" || name == "bmm") return ExternKind::kProduct;
  if (name == "layer_norm") return ExternKind::kLayerNorm;
  return absl::UnimplementedError(Cat("a standalone program cannot compute the extern kernel '", name,
                                      "', only bmm, layer_norm and matmul: call it as a kernel of the plan"));
}

absl::Status CheckExternKind(const PlanKernel& kernel) { return FindExternKind(kernel).status(); }

bool IsForCublas(const Plan& plan, const KernelCall& call) {
  const absl::StatusOr<ExternKind> kind = FindExternKind(plan.kernel(call.kernel));
  return kind.ok() && *kind == ExternKind::kProduct &&
         std::all_of(call.arguments.begin(), call.arguments.end(), [&](int id) {
           const PlanBuffer& buffer = plan.buffer(id);
           return FindMatrixOperand(buffer.sizes, buffer.strides).has_value();
         });
}

std::string FileName(const Plan& plan, const ProgramOptions& options) {
  std::string name = options.name.empty() ? plan.name : options.name;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '-') c = '_';
  }
  return name;
}

}  // namespace telemetry::worker::wrapper::program
