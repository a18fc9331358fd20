#include "worker/wrapper/run_plan.h"

#include <utility>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/debug/debugged_call.h"
#include "worker/ir/reference/reference.h"
#include "worker/kernels/kernel_spec.h"
#include "worker/kernels/trace_problem.h"
#include "worker/wrapper/call_values.h"
#include "worker/wrapper/concatenate.h"
#include "worker/wrapper/index_put.h"
#include "worker/wrapper/matrix_product.h"
#include "worker/wrapper/scatter.h"
#include "worker/wrapper/subgraphs.h"
#include "worker/wrapper/verify_plan.h"

namespace telemetry::worker::wrapper {

using device::Device;
using record::Cat;
using runtime::Argument;
using runtime::Kernel;
using runtime::Tensor;

PlanRunner::PlanRunner(Plan plan, std::shared_ptr<Device> device, debug::ValueDebugger* debugger,
                       std::shared_ptr<Device> references, std::shared_ptr<MemoryPool> pool)
    : plan_(std::move(plan)),
      device_(std::move(device)),
      debugger_(debugger),
      references_(std::move(references)),
      jumps_(FindSubgraphs(plan_).jumps),
      memory_(&plan_, device_, debugger != nullptr && debugger->WantsAnyValues(), std::move(pool)) {}

absl::StatusOr<std::unique_ptr<PlanRunner>> PlanRunner::Create(Plan plan, std::shared_ptr<Device> device,
                                                               debug::ValueDebugger* debugger,
                                                               std::shared_ptr<Device> references,
                                                               std::shared_ptr<MemoryPool> pool) {
  if (pool != nullptr && pool->device() != device) {
    return absl::InvalidArgumentError(Cat("plan '", plan.name, "': the memory pool belongs to another device"));
  }
  // Must come before the constructor, which looks up buffers.
  RETURN_IF_ERROR(VerifyPlan(plan));
  std::unique_ptr<PlanRunner> runner(
      new PlanRunner(std::move(plan), std::move(device), debugger, std::move(references), std::move(pool)));
  RETURN_IF_ERROR(runner->Prepare());
  return runner;
}

absl::Status PlanRunner::Prepare() {
  sources_.resize(plan_.kernels.size());
  for (const PlanKernel& kernel : plan_.kernels) {
    if (kernel.source != nullptr) {
      RETURN_IF_ERROR(CheckLanguage(*kernel.source, device_ == nullptr ? references_.get() : device_.get()));
      kernels_.emplace_back();
      irs_.emplace_back();
      continue;
    }
    if (device_ != nullptr) {
      runtime::KernelSpec spec = kernels::MakeKernelSpec(*kernel.library);
      // The precision of programs (ProgramOptions::generate), so that both compute equal bytes.
      spec.settings = runtime::Settings{.dot_precision = runtime::DotPrecision::kIeee, .use_default_config = true};
      ASSIGN_OR_RETURN(std::unique_ptr<Kernel> made, Kernel::Create(std::move(spec)));
      kernels_.push_back(std::move(made));
      continue;
    }
    kernels::Problem problem = kernel.problem;
    for (const kernels::NumberArgument& number : kernel.library->numbers) {
      problem.numbers.emplace(number.name, number.default_value);
    }
    ASSIGN_OR_RETURN(ir::DeviceIr ir, kernels::TraceProblem(*kernel.library, problem));
    irs_.push_back(std::move(ir));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Tensor>> PlanRunner::Run(absl::Span<const Tensor> inputs) {
  absl::Status status = memory_.TakeInputs(inputs);
  if (!status.ok()) return status;
  if (debugger_ != nullptr) {
    debugger_->BeginProgram(plan_.name, [&] { return InputValues(plan_, inputs); });
  }
  for (size_t i = 0; i < plan_.lines.size();) {
    const absl::StatusOr<size_t> next = RunLine(i);
    if (next.ok()) {
      i = *next;
      continue;
    }
    status = next.status();
    // Waits for the work that earlier lines queued, because the caller cannot wait for it after the error.
    if (device_ != nullptr) device_->Synchronize().IgnoreError();
    memory_.Clear();
    return absl::Status(status.code(), Cat("plan '", plan_.name, "', line ", i, " (", plan_.LineText(plan_.lines[i]),
                                           "): ", status.message()));
  }
  absl::StatusOr<std::vector<Tensor>> outputs = memory_.MakeTensors(plan_.outputs);
  memory_.Clear();
  return outputs;
}

absl::StatusOr<size_t> PlanRunner::RunLine(size_t index) {
  const Line& line = plan_.lines[index];
  RETURN_IF_ERROR(memory_.Update(line));
  if (IsCall(line)) RETURN_IF_ERROR(debugger_ == nullptr ? RunCall(line) : RunDebugged(line));
  if (const auto* condition = std::get_if<If>(&line)) {
    ASSIGN_OR_RETURN(const bool is_true, memory_.IsTrue(condition->predicate));
    if (is_true) return index + 1;
  }
  return jumps_[index];
}

absl::Status PlanRunner::RunCall(const Line& line) {
  if (const auto* put = std::get_if<IndexPut>(&line)) return PutIndexed(*put);
  if (const auto* scatter = std::get_if<Scatter>(&line)) return ScatterValues(*scatter);
  if (const auto* joined = std::get_if<Concatenate>(&line)) return JoinTensors(*joined);
  const KernelCall& call = *AsKernelCall(line);
  if (!std::holds_alternative<CallKernel>(line)) return RunExtern(call);
  if (plan_.kernel(call.kernel).source != nullptr)
    return device_ == nullptr ? EvaluateSource(call) : LaunchSource(call);
  return device_ == nullptr ? EvaluateKernel(call) : LaunchKernel(call);
}

absl::Status PlanRunner::RunDebugged(const Line& line) {
  const std::string kernel = plan_.CallName(line);
  const auto* launch = std::get_if<CallKernel>(&line);
  const Kernel* launched =
      device_ == nullptr || launch == nullptr ? nullptr : kernels_[static_cast<size_t>(launch->call.kernel)].get();
  if (launched != nullptr && debug::PicksAtRunTime(launched->definition())) debugger_->StayOff(kernel);
  const auto list = [&] {
    return CallValues(plan_, memory_.places(), line, [this](int buffer) { return memory_.MakeTensor(buffer); });
  };
  debugger_->BeforeLaunch(kernel, list);
  absl::Status status = RunCall(line);
  // Synchronises here so that a failed launch is reported as a launch error, not as an error of the first copy of the
  // debugger.
  if (status.ok() && device_ != nullptr) status = device_->Synchronize();
  if (status.ok()) debugger_->AfterLaunch(kernel, WrittenMemory(plan_, memory_.places(), line), list);
  return status;
}

absl::Status PlanRunner::PutIndexed(const IndexPut& put) {
  ASSIGN_OR_RETURN(std::vector<ir::HostArray> tensors, memory_.DenseArrays({put.target, put.indices, put.values}));
  std::vector<double> rows = tensors[0].RowMajor();
  PutRows(tensors[1].data, tensors[2].data, put.accumulate, tensors[0].sizes[0], &rows);
  tensors[0].SetRowMajor(rows);  // rounds to the dtype
  return memory_.Write(put.target, tensors[0]);
}

absl::Status PlanRunner::ScatterValues(const Scatter& scatter) {
  std::vector<int> buffers = {scatter.target, scatter.indices};
  if (scatter.values >= 0) buffers.push_back(scatter.values);
  ASSIGN_OR_RETURN(std::vector<ir::HostArray> tensors, memory_.DenseArrays(buffers));
  std::vector<double> elements = tensors[0].RowMajor();
  const std::vector<double> values =
      scatter.values >= 0 ? tensors[2].data : std::vector<double>(tensors[1].data.size(), scatter.number);
  const ScatterShape shape = {.target = tensors[0].sizes, .indices = tensors[1].sizes, .dimension = scatter.dimension};
  ScatterElements(shape, tensors[1].data, values, scatter.reduction, &elements);
  tensors[0].SetRowMajor(elements);  // rounds to the dtype
  return memory_.Write(scatter.target, tensors[0]);
}

absl::Status PlanRunner::JoinTensors(const Concatenate& line) {
  ASSIGN_OR_RETURN(const std::vector<ir::HostArray> tensors, memory_.DenseArrays(line.tensors));
  std::vector<std::vector<double>> elements;
  for (const ir::HostArray& tensor : tensors) elements.push_back(tensor.data);
  const PlanBuffer& output = plan_.buffer(line.output);
  ir::HostArray joined = ir::HostArray::Dense(output.dtype, output.sizes);
  joined.SetRowMajor(ConcatenateElements(elements, plan_.Buffers(line.tensors), line.dimension));
  return memory_.Write(line.output, joined);
}

absl::Status PlanRunner::LaunchKernel(const KernelCall& call) {
  ASSIGN_OR_RETURN(std::vector<Tensor> tensors, memory_.MakeTensors(call.arguments));
  ASSIGN_OR_RETURN(std::vector<Tensor> outputs, memory_.MakeTensors(call.outputs));
  const PlanKernel& kernel = plan_.kernel(call.kernel);
  const kernels::Problem problem = MakeCallProblem(kernel, call);
  runtime::Arguments arguments(tensors.begin(), tensors.end());
  for (const kernels::NumberArgument& number : kernel.library->numbers) {
    const double value = problem.number(number.name);
    arguments.push_back(number.is_flag ? Argument(value != 0) : Argument(value));
  }
  ASSIGN_OR_RETURN(std::shared_ptr<runtime::BoundKernel> bound,
                   kernels_[static_cast<size_t>(call.kernel)]->Bind(arguments));
  if (!kernel.config.has_value()) return bound->RunInto(arguments, outputs);
  ASSIGN_OR_RETURN(std::shared_ptr<runtime::CompiledKernel> compiled, bound->CompileConfig(*kernel.config));
  return bound->Launch(*compiled, arguments, outputs);
}

absl::Status PlanRunner::LaunchSource(const KernelCall& call) {
  ASSIGN_OR_RETURN(const std::vector<Tensor> arguments, memory_.MakeTensors(call.arguments));
  ASSIGN_OR_RETURN(const std::vector<Tensor> outputs, memory_.MakeTensors(call.outputs));
  const SourceKernel& kernel = *plan_.kernel(call.kernel).source;
  std::unique_ptr<SourceFunction>& function = sources_[static_cast<size_t>(call.kernel)];
  if (function == nullptr) {
    ASSIGN_OR_RETURN(function, SourceFunction::Create(device_, kernel, kernel.code));
  }
  return function->Launch(arguments, outputs);
}

absl::Status PlanRunner::EvaluateSource(const KernelCall& call) {
  ASSIGN_OR_RETURN(const std::vector<ir::HostArray> arguments, memory_.DenseArrays(call.arguments));
  ASSIGN_OR_RETURN(std::vector<ir::HostArray> outputs, memory_.DenseArrays(call.outputs));
  RETURN_IF_ERROR(EvaluateReference(references_, *plan_.kernel(call.kernel).source, arguments, &outputs));
  for (size_t i = 0; i < outputs.size(); ++i) RETURN_IF_ERROR(memory_.Write(call.outputs[i], outputs[i]));
  return absl::OkStatus();
}

absl::Status PlanRunner::EvaluateKernel(const KernelCall& call) {
  ASSIGN_OR_RETURN(std::vector<ir::HostArray> tensors, memory_.DenseArrays(call.arguments));
  const ir::reference::Options options{.scalars = {call.scalars.begin(), call.scalars.end()}};
  const ir::DeviceIr& ir = irs_[static_cast<size_t>(call.kernel)];
  RETURN_IF_ERROR(ir::reference::Evaluate(ir, options, &tensors));
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    const ir::HostArray& output = tensors.at(call.arguments.size() + i);
    RETURN_IF_ERROR(memory_.Write(call.outputs[i], output));
  }
  return absl::OkStatus();
}

absl::Status PlanRunner::CallLibrary(const KernelCall& call) {
  ASSIGN_OR_RETURN(std::vector<Tensor> arguments, memory_.MakeTensors(call.arguments));
  ASSIGN_OR_RETURN(std::vector<Tensor> outputs, memory_.MakeTensors(call.outputs));
  const auto product = FindMatrixProduct(*plan_.kernel(call.kernel).library, arguments, outputs);
  return product.has_value() ? device_->Multiply(*product)
                             : absl::UnimplementedError("the library does not have this kernel");
}

absl::Status PlanRunner::RunExtern(const KernelCall& call) {
  if (device_ == nullptr) return EvaluateExtern(call);
  const absl::Status status = CallLibrary(call);
  return absl::IsUnavailable(status) || absl::IsUnimplemented(status) ? EvaluateExtern(call) : status;
}

absl::Status PlanRunner::EvaluateExtern(const KernelCall& call) {
  ASSIGN_OR_RETURN(std::vector<ir::HostArray> tensors, memory_.DenseArrays(call.arguments));
  const PlanKernel& kernel = plan_.kernel(call.kernel);
  kernels::Case made{.problem = MakeCallProblem(kernel, call)};
  for (size_t i = 0; i < tensors.size(); ++i) {
    made.tensors.emplace(kernel.library->tensors[i].name, std::move(tensors.at(i)));
  }
  const kernels::Outputs results = kernel.library->reference(made);
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    const kernels::TensorSpec& output = kernel.outputs[i];
    const auto result = results.find(output.name);
    if (result == results.end()) return absl::InternalError(Cat("the reference lacks the output '", output.name, "'"));
    // Rounds the values to the dtype.
    ir::HostArray dense = ir::HostArray::Dense(output.dtype, output.sizes);
    dense.SetRowMajor(result->second.RowMajor());
    RETURN_IF_ERROR(memory_.Write(call.outputs[i], dense));
  }
  return absl::OkStatus();
}

}  // namespace telemetry::worker::wrapper
