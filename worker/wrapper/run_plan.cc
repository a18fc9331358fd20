#include "worker/wrapper/run_plan.h"

#include <algorithm>
#include <utility>

#include "proto/record/strings.h"
#include "worker/debug/debugged_call.h"
#include "worker/ir/reference.h"
#include "worker/kernels/kernel_spec.h"
#include "worker/kernels/trace_problem.h"
#include "worker/wrapper/call_values.h"
#include "worker/wrapper/matrix_product.h"
#include "worker/wrapper/size_class.h"
#include "worker/wrapper/verify_plan.h"

namespace telemetry::worker::wrapper {

using record::Cat;

namespace {

kernels::Problem ProblemOf(const PlanKernel& kernel, const KernelCall& call) {
  kernels::Problem problem = kernel.problem;
  problem.numbers.insert(call.scalars.begin(), call.scalars.end());
  return problem;
}

ir::HostArray DenseArray(DType dtype, const std::vector<int64_t>& sizes, absl::Span<const double> row_major) {
  ir::HostArray array = ir::HostArray::Dense(dtype, sizes);
  array.SetRowMajor(row_major);
  return array;
}

}  // namespace

PlanRunner::PlanRunner(Plan plan, std::shared_ptr<Device> device, debug::ValueDebugger* debugger)
    : plan_(std::move(plan)), device_(std::move(device)), debugger_(debugger), places_(PlacesOf(plan_)) {}

absl::StatusOr<std::unique_ptr<PlanRunner>> PlanRunner::Create(Plan plan, std::shared_ptr<Device> device,
                                                               debug::ValueDebugger* debugger) {
  // Before the constructor, which looks buffers up.
  if (absl::Status status = VerifyPlan(plan); !status.ok()) return status;
  std::unique_ptr<PlanRunner> runner(new PlanRunner(std::move(plan), std::move(device), debugger));
  if (absl::Status status = runner->Prepare(); !status.ok()) return status;
  return runner;
}

absl::Status PlanRunner::Prepare() {
  for (const PlanKernel& kernel : plan_.kernels) {
    if (device_ != nullptr) {
      KernelSpec spec = kernels::SpecOf(*kernel.library);
      spec.settings = Settings{.use_default_config = true};
      absl::StatusOr<std::unique_ptr<Kernel>> made = Kernel::Create(std::move(spec));
      if (!made.ok()) return made.status();
      kernels_.push_back(*std::move(made));
      continue;
    }
    kernels::Problem problem = kernel.problem;
    for (const kernels::NumberArgument& number : kernel.library->numbers) {
      problem.numbers.emplace(number.name, number.default_value);
    }
    absl::StatusOr<ir::DeviceIr> ir = kernels::TraceProblem(*kernel.library, problem);
    if (!ir.ok()) return ir.status();
    irs_.push_back(*std::move(ir));
  }
  return absl::OkStatus();
}

absl::Status PlanRunner::TakeInputs(absl::Span<const Tensor> inputs) {
  memory_ = std::vector<Tensor>(plan_.buffers.size());
  if (inputs.size() != plan_.inputs.size()) {
    return absl::InvalidArgumentError(
        Cat("plan '", plan_.name, "' has ", plan_.inputs.size(), " inputs, but ", inputs.size(), " are given"));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const PlanBuffer& wanted = plan_.buffer(plan_.inputs[i]);
    const Tensor& given = inputs[i];
    absl::Status status = CheckTensor(given);
    const bool fits =
        given.dtype == wanted.dtype && given.sizes == Dimensions(wanted.sizes.begin(), wanted.sizes.end()) &&
        given.strides == Dimensions(wanted.strides.begin(), wanted.strides.end()) && given.device == device_;
    if (status.ok() && !fits) status = absl::InvalidArgumentError(Cat("is ", given.ToString()));
    if (!status.ok()) {
      return absl::InvalidArgumentError(
          Cat("plan '", plan_.name, "', input '", wanted.name, "' (", wanted.LayoutText(), "): ", status.message()));
    }
    memory_[static_cast<size_t>(plan_.inputs[i])] = given;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Tensor>> PlanRunner::Run(absl::Span<const Tensor> inputs) {
  absl::Status status = TakeInputs(inputs);
  if (!status.ok()) return status;
  if (debugger_ != nullptr) {
    debugger_->BeginProgram(plan_.name, [this] { return InputValues(plan_, memory_); });
  }
  for (size_t i = 0; i < plan_.lines.size(); ++i) {
    status = RunLine(plan_.lines[i]);
    if (status.ok()) continue;
    // What the lines before queued is done before the caller hears of it: nobody else would wait for it.
    if (device_ != nullptr) device_->Synchronize().IgnoreError();
    memory_.clear();
    return absl::Status(status.code(), Cat("plan '", plan_.name, "', line ", i, " (", plan_.LineText(plan_.lines[i]),
                                           "): ", status.message()));
  }
  absl::StatusOr<std::vector<Tensor>> outputs = TensorsOf(plan_.outputs);
  memory_.clear();
  return outputs;
}

absl::Status PlanRunner::RunLine(const Line& line) {
  const LineEffects effects = EffectsOf(line);
  if (const auto* reuse = std::get_if<Reuse>(&line)) {
    memory_[static_cast<size_t>(reuse->to)] = std::move(memory_[static_cast<size_t>(reuse->from)]);
  } else {
    for (const int id : effects.makes) {
      if (absl::Status status = AllocateFor(id, SizeClass(plan_.buffer(id).bytes())); !status.ok()) return status;
    }
  }
  if (effects.frees >= 0) {
    memory_[static_cast<size_t>(effects.frees)].buffer.reset();
    memory_[static_cast<size_t>(effects.frees)].host.reset();
  }
  const KernelCall* call = CallOf(line);
  if (call == nullptr) return absl::OkStatus();
  return debugger_ == nullptr ? RunCall(line, *call) : RunDebugged(line, *call);
}

absl::Status PlanRunner::RunCall(const Line& line, const KernelCall& call) {
  if (!std::holds_alternative<CallKernel>(line)) return RunExtern(call);
  return device_ == nullptr ? EvaluateKernel(call) : LaunchKernel(call);
}

absl::Status PlanRunner::RunDebugged(const Line& line, const KernelCall& call) {
  const std::string& kernel = plan_.kernel(call.kernel).name;
  const bool is_extern = !std::holds_alternative<CallKernel>(line);
  if (device_ != nullptr && !is_extern &&
      debug::PicksAtRunTime(kernels_[static_cast<size_t>(call.kernel)]->definition())) {
    debugger_->StayOff(kernel);
  }
  const auto list = [&] {
    return CallValues(plan_, places_, call, is_extern, [this](int buffer) { return TensorOf(buffer); });
  };
  debugger_->BeforeLaunch(kernel, list);
  absl::Status status = RunCall(line, call);
  // So that a launch that fails is told as such, not as the debugger's first copy.
  if (status.ok() && device_ != nullptr) status = device_->Synchronize();
  if (status.ok()) debugger_->AfterLaunch(kernel, WrittenMemory(plan_, places_, call), list);
  return status;
}

absl::Status PlanRunner::AllocateFor(int buffer, int64_t bytes) {
  const DType dtype = plan_.buffer(buffer).dtype;
  const int64_t elements = bytes / static_cast<int64_t>(SizeOf(dtype));
  Tensor& memory = memory_[static_cast<size_t>(buffer)];
  if (device_ == nullptr) {
    memory = Tensor::OnHost(ir::HostArray::Dense(dtype, {elements}));
    return absl::OkStatus();
  }
  absl::StatusOr<Tensor> allocated = AllocateTensor(device_, dtype, {elements});
  if (!allocated.ok()) return allocated.status();
  memory = *std::move(allocated);
  return absl::OkStatus();
}

absl::StatusOr<Tensor> PlanRunner::TensorOf(int buffer) const {
  const PlanBuffer& layout = plan_.buffer(buffer);
  const Place& place = places_[static_cast<size_t>(buffer)];
  const Tensor& memory = memory_[static_cast<size_t>(place.root)];
  if (device_ == nullptr) {
    const auto first = memory.host->data.begin() + static_cast<std::ptrdiff_t>(place.offset);
    return Tensor::OnHost({.dtype = layout.dtype,
                           .sizes = layout.sizes,
                           .strides = layout.strides,
                           .data = {first, first + static_cast<std::ptrdiff_t>(layout.span())}});
  }
  Tensor tensor{.dtype = layout.dtype,
                .sizes = Dimensions(layout.sizes.begin(), layout.sizes.end()),
                .strides = Dimensions(layout.strides.begin(), layout.strides.end()),
                .device = device_,
                .buffer = memory.buffer};
  if (place.offset == 0) return tensor;
  const auto offset_bytes = static_cast<size_t>(place.offset) * SizeOf(layout.dtype);
  auto view = device_->View(memory.buffer.get(), offset_bytes, static_cast<size_t>(layout.bytes()));
  if (!view.ok()) return view.status();
  tensor.buffer = *std::move(view);
  return tensor;
}

absl::StatusOr<std::vector<Tensor>> PlanRunner::TensorsOf(absl::Span<const int> buffers) const {
  std::vector<Tensor> tensors;
  for (const int id : buffers) {
    absl::StatusOr<Tensor> tensor = TensorOf(id);
    if (!tensor.ok()) return tensor.status();
    tensors.push_back(*std::move(tensor));
  }
  return tensors;
}

absl::Status PlanRunner::LaunchKernel(const KernelCall& call) {
  absl::StatusOr<std::vector<Tensor>> tensors = TensorsOf(call.arguments);
  if (!tensors.ok()) return tensors.status();
  absl::StatusOr<std::vector<Tensor>> outputs = TensorsOf(call.outputs);
  if (!outputs.ok()) return outputs.status();
  const PlanKernel& kernel = plan_.kernel(call.kernel);
  const kernels::Problem problem = ProblemOf(kernel, call);
  Arguments arguments(tensors->begin(), tensors->end());
  for (const kernels::NumberArgument& number : kernel.library->numbers) {
    const double value = problem.number(number.name);
    arguments.push_back(number.is_flag ? Argument(value != 0) : Argument(value));
  }
  absl::StatusOr<std::shared_ptr<BoundKernel>> bound = kernels_[static_cast<size_t>(call.kernel)]->Bind(arguments);
  if (!bound.ok()) return bound.status();
  if (!kernel.config.has_value()) return (*bound)->RunInto(arguments, *outputs);
  absl::StatusOr<std::shared_ptr<CompiledKernel>> compiled = (*bound)->CompileConfig(*kernel.config);
  if (!compiled.ok()) return compiled.status();
  return (*bound)->Launch(**compiled, arguments, *outputs);
}

absl::StatusOr<std::vector<ir::HostArray>> PlanRunner::DenseArguments(const KernelCall& call) const {
  absl::StatusOr<std::vector<Tensor>> tensors = TensorsOf(call.arguments);
  if (!tensors.ok()) return tensors.status();
  std::vector<ir::HostArray> arrays;
  for (const Tensor& tensor : *tensors) {
    absl::StatusOr<ir::HostArray> array = ToHost(tensor);
    if (!array.ok()) return array.status();
    arrays.push_back(DenseArray(array->dtype, array->sizes, array->RowMajor()));
  }
  return arrays;
}

absl::Status PlanRunner::Write(int buffer, const ir::HostArray& dense) {
  const Tensor& memory = memory_[static_cast<size_t>(buffer)];
  if (memory.host != nullptr) {
    std::copy(dense.data.begin(), dense.data.end(), memory.host->data.begin());
    return absl::OkStatus();
  }
  const std::vector<std::byte> bytes = ir::ToBytes(dense);
  return bytes.empty() ? absl::OkStatus() : device_->Upload(memory.buffer.get(), 0, bytes);
}

absl::Status PlanRunner::EvaluateKernel(const KernelCall& call) {
  absl::StatusOr<std::vector<ir::HostArray>> tensors = DenseArguments(call);
  if (!tensors.ok()) return tensors.status();
  const ir::ReferenceOptions options{.scalars = {call.scalars.begin(), call.scalars.end()}};
  const ir::DeviceIr& ir = irs_[static_cast<size_t>(call.kernel)];
  if (absl::Status status = ir::EvaluateReference(ir, options, &*tensors); !status.ok()) return status;
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    const ir::HostArray& output = tensors->at(call.arguments.size() + i);
    if (absl::Status status = Write(call.outputs[i], output); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status PlanRunner::CallLibrary(const KernelCall& call) {
  absl::StatusOr<std::vector<Tensor>> arguments = TensorsOf(call.arguments);
  if (!arguments.ok()) return arguments.status();
  absl::StatusOr<std::vector<Tensor>> outputs = TensorsOf(call.outputs);
  if (!outputs.ok()) return outputs.status();
  const auto product = ProductOf(*plan_.kernel(call.kernel).library, *arguments, *outputs);
  return product.has_value() ? device_->Multiply(*product) : absl::UnimplementedError("no library has it");
}

absl::Status PlanRunner::RunExtern(const KernelCall& call) {
  if (device_ == nullptr) return EvaluateExtern(call);
  const absl::Status status = CallLibrary(call);
  return absl::IsUnavailable(status) || absl::IsUnimplemented(status) ? EvaluateExtern(call) : status;
}

absl::Status PlanRunner::EvaluateExtern(const KernelCall& call) {
  absl::StatusOr<std::vector<ir::HostArray>> tensors = DenseArguments(call);
  if (!tensors.ok()) return tensors.status();
  const PlanKernel& kernel = plan_.kernel(call.kernel);
  kernels::Case made{.problem = ProblemOf(kernel, call)};
  for (size_t i = 0; i < tensors->size(); ++i) {
    made.tensors.emplace(kernel.library->tensors[i].name, std::move(tensors->at(i)));
  }
  const kernels::Outputs results = kernel.library->reference(made);
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    const kernels::TensorSpec& output = kernel.outputs[i];
    const auto result = results.find(output.name);
    if (result == results.end()) return absl::InternalError(Cat("the reference lacks the output '", output.name, "'"));
    // Rounded to what the dtype holds.
    const ir::HostArray dense = DenseArray(output.dtype, output.sizes, result->second.RowMajor());
    if (absl::Status status = Write(call.outputs[i], dense); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace telemetry::worker::wrapper
