// The part of PlanBuilder that adds calls of kernels.

#include <algorithm>
#include <string_view>
#include <utility>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/wrapper/concatenate.h"
#include "worker/wrapper/kernel_for.h"
#include "worker/wrapper/plan_builder.h"

namespace telemetry::worker::wrapper {

using record::Cat;

namespace {

// Removes the numbers that are arguments of each launch from a problem, and returns them.
kernels::Numbers TakeScalars(PlanKernel* kernel) {
  kernels::Numbers scalars;
  for (const kernels::NumberArgument& number : kernel->library->numbers) {
    if (!number.is_flag) scalars.insert(kernel->problem.numbers.extract(number.name));
  }
  return scalars;
}

}  // namespace

absl::Status PlanBuilder::CheckArguments(const kernels::LibraryKernel& kernel,
                                         const std::vector<BufferRef>& arguments) const {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string why = WhyNot(arguments[i]);
    if (why.empty()) continue;
    const std::string name = i < kernel.tensors.size() ? kernel.tensors[i].name : std::to_string(i);
    return absl::InvalidArgumentError(Cat("kernel '", kernel.name, "', argument '", name, "': ", why));
  }
  return absl::OkStatus();
}

std::string PlanBuilder::WhyNotWritten(const kernels::TensorSpec& output, const KernelCall& call,
                                       BufferRef buffer) const {
  if (std::string why = WhyNot(buffer); !why.empty()) return why;
  const PlanBuffer& given = plan_.buffer(buffer.id);
  const std::string is = Cat("buffer '", given.name, "' is ");
  if (given.dtype != output.dtype || given.sizes != output.sizes || !given.is_dense()) {
    return Cat(is, given.LayoutText(), ", but ", ShapeText(output.dtype, output.sizes), " is written");
  }
  if (is_input_[static_cast<size_t>(buffer.id)]) return Cat(is, "an input, which is only read");
  if (roots_[static_cast<size_t>(buffer.id)] != buffer.id) return Cat(is, "a view, which is only read");
  const auto shares = [&](int argument) { return roots_[static_cast<size_t>(argument)] == buffer.id; };
  if (std::any_of(call.arguments.begin(), call.arguments.end(), shares)) return Cat(is, "an argument of the same call");
  const bool is_twice = std::find(call.outputs.begin(), call.outputs.end(), buffer.id) != call.outputs.end();
  return is_twice ? Cat(is, "another output of the same call") : "";
}

absl::Status PlanBuilder::TakeOutputs(const CallOptions& options, KernelCall* call) {
  const PlanKernel& kernel = plan_.kernel(call->kernel);
  if (options.into.size() != kernel.outputs.size()) {
    return absl::InvalidArgumentError(Cat("kernel '", kernel.library->name, "' has ", kernel.outputs.size(),
                                          " outputs, but ", options.into.size(), " buffers are given"));
  }
  for (size_t i = 0; i < kernel.outputs.size(); ++i) {
    const kernels::TensorSpec& output = kernel.outputs[i];
    if (const std::string why = WhyNotWritten(output, *call, options.into[i]); !why.empty()) {
      return absl::InvalidArgumentError(Cat("kernel '", kernel.library->name, "', output '", output.name, "': ", why));
    }
    call->outputs.push_back(options.into[i].id);
  }
  return absl::OkStatus();
}

absl::Status PlanBuilder::MakeOutputs(CallKind kind, const CallOptions& options, const OutputForms& forms,
                                      KernelCall* call) {
  const std::vector<kernels::TensorSpec> outputs = plan_.kernel(call->kernel).outputs;
  if (!options.names.empty() && options.names.size() != outputs.size()) {
    return absl::InvalidArgumentError(Cat("kernel '", plan_.kernel(call->kernel).library->name, "' has ",
                                          outputs.size(), " outputs, but ", options.names.size(), " names are given"));
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string name = options.names.empty() ? "" : options.names[i];
    const BufferRef buffer = AddBuffer({.name = name,
                                        .dtype = outputs[i].dtype,
                                        .sizes = outputs[i].sizes,
                                        .strides = ir::RowMajorStrides(outputs[i].sizes),
                                        .forms = forms.empty() ? std::vector<SizeForm>() : forms[i]});
    if (buffer.id < 0) return error_;
    if (kind != CallKind::kExternAllocating) plan_.lines.emplace_back(wrapper::Allocate{buffer.id});
    call->outputs.push_back(buffer.id);
  }
  return absl::OkStatus();
}

absl::Status PlanBuilder::Prepare(CallKind kind, const kernels::LibraryKernel& kernel,
                                  const std::vector<BufferRef>& arguments, const CallOptions& options,
                                  KernelCall* call) {
  RETURN_IF_ERROR(CheckArguments(kernel, arguments));
  std::vector<PlanBuffer> tensors;
  for (const BufferRef argument : arguments) {
    tensors.push_back(plan_.buffer(argument.id));
    call->arguments.push_back(argument.id);
  }
  OutputForms forms;
  ASSIGN_OR_RETURN(PlanKernel wanted, KernelFor(kernel, tensors, options.numbers, &forms));
  call->scalars = TakeScalars(&wanted);
  wanted.config = options.config;
  call->kernel = Define(std::move(wanted));
  if (options.into.empty()) return MakeOutputs(kind, options, forms, call);
  if (kind != CallKind::kExternAllocating) return TakeOutputs(options, call);
  return absl::InvalidArgumentError(
      Cat("kernel '", kernel.name, "' allocates its outputs, but ", options.into.size(), " buffers are given"));
}

CallOutputs PlanBuilder::Record(CallKind kind, const KernelRef& kernel, const std::vector<BufferRef>& arguments,
                                const CallOptions& options) {
  if (failed()) return {};
  const absl::StatusOr<const kernels::LibraryKernel*> library = kernel.Find();
  KernelCall call;
  absl::Status status = library.status();
  if (status.ok()) status = Prepare(kind, **library, arguments, options, &call);
  if (!status.ok()) {
    Fail(std::move(status));
    return {};
  }
  std::vector<BufferRef> outputs;
  for (const int id : call.outputs) outputs.push_back({id});
  if (kind == CallKind::kKernel) {
    plan_.lines.emplace_back(CallKernel{std::move(call)});
  } else if (kind == CallKind::kExtern) {
    plan_.lines.emplace_back(wrapper::CallExtern{std::move(call)});
  } else {
    AddAllocatingCall(std::move(call));
  }
  return CallOutputs(std::move(outputs));
}

void PlanBuilder::AddAllocatingCall(KernelCall call) {
  const std::vector<int> outputs = call.outputs;
  const std::string pack = outputs.size() == 1 ? "" : Cat("pack", next_pack_++);
  plan_.lines.emplace_back(wrapper::CallExternAllocating{std::move(call), pack});
  for (size_t i = 0; i < outputs.size() && !pack.empty(); ++i) {
    plan_.lines.emplace_back(Unpack{.pack = pack, .index = static_cast<int>(i), .buffer = outputs[i]});
  }
}

CallOutputs PlanBuilder::Call(const KernelRef& kernel, const std::vector<BufferRef>& arguments,
                              const CallOptions& options) {
  return Record(CallKind::kKernel, kernel, arguments, options);
}

CallOutputs PlanBuilder::CallExtern(const KernelRef& kernel, const std::vector<BufferRef>& arguments,
                                    const CallOptions& options) {
  return Record(CallKind::kExtern, kernel, arguments, options);
}

CallOutputs PlanBuilder::CallExternAllocating(const KernelRef& kernel, const std::vector<BufferRef>& arguments,
                                              const CallOptions& options) {
  return Record(CallKind::kExternAllocating, kernel, arguments, options);
}

BufferRef PlanBuilder::Concatenate(const std::vector<BufferRef>& tensors, int dimension, const CallOptions& options) {
  if (failed()) return {};
  const auto refuse = [&](std::string_view why) {
    Fail(absl::InvalidArgumentError(Cat("concatenate: ", why)));
    return BufferRef();
  };
  if (const std::string why = WhyNotThere(tensors); !why.empty()) return refuse(why);
  KernelCall call;  // without a kernel
  for (const BufferRef tensor : tensors) call.arguments.push_back(tensor.id);
  const std::vector<PlanBuffer> buffers = plan_.Buffers(call.arguments);
  if (const std::string why = WhyNotConcatenated(buffers, dimension); !why.empty()) return refuse(why);
  if (options.into.size() > 1 || options.names.size() > 1) return refuse("there is one output");
  const std::vector<int64_t> sizes = ConcatenatedSizes(buffers, dimension);
  BufferRef output;
  if (options.into.empty()) {
    output = Allocate(options.names.empty() ? "" : options.names[0], buffers[0].dtype, sizes);
    if (output.id < 0) return {};
    SetForms(output, ConcatenatedForms(buffers, dimension));
  } else {
    output = options.into[0];
    const kernels::TensorSpec wanted = {.name = "out", .sizes = sizes, .dtype = buffers[0].dtype};
    if (const std::string why = WhyNotWritten(wanted, call, output); !why.empty()) return refuse(why);
  }
  plan_.lines.emplace_back(
      wrapper::Concatenate{.tensors = call.arguments, .dimension = dimension, .output = output.id});
  return output;
}

}  // namespace telemetry::worker::wrapper
