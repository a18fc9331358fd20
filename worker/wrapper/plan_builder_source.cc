// The part of PlanBuilder that adds calls of kernels that are given as source.

#include <utility>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/wrapper/plan_builder.h"

namespace telemetry::worker::wrapper {

using record::Cat;

namespace {

absl::Status RefuseTensor(const SourceKernel& kernel, std::string_view role, const SourceTensor& tensor,
                          std::string_view why) {
  return absl::InvalidArgumentError(
      Cat("kernel '", kernel.declaration.name, "', ", role, " '", tensor.name, "': ", why));
}

}  // namespace

absl::StatusOr<std::vector<kernels::TensorSpec>> PlanBuilder::SourceOutputs(const SourceKernel& kernel,
                                                                            const CallOptions& options) const {
  std::vector<kernels::TensorSpec> outputs;
  if (!options.into.empty() && options.into.size() != kernel.outputs.size()) {
    return absl::InvalidArgumentError(Cat("kernel '", kernel.declaration.name, "' writes ", kernel.outputs.size(),
                                          " tensors, but ", options.into.size(), " buffers are given"));
  }
  for (size_t i = 0; i < kernel.outputs.size(); ++i) {
    const SourceTensor& output = kernel.outputs[i];
    outputs.push_back({.name = output.name, .sizes = {output.elements}, .dtype = output.dtype});
    if (options.into.empty()) {
      if (!output.is_read) continue;
      return RefuseTensor(kernel, "output", output,
                          "the kernel reads it, too; pass the buffers to change as existing buffers (into)");
    }
    std::string why = WhyNot(options.into[i]);
    if (why.empty()) why = WhyNotPassed(output, plan_.buffer(options.into[i].id));
    if (!why.empty()) return RefuseTensor(kernel, "output", output, why);
    outputs.back().sizes = plan_.buffer(options.into[i].id).sizes;
  }
  return outputs;
}

absl::Status PlanBuilder::PrepareSource(std::shared_ptr<const SourceKernel> kernel,
                                        const std::vector<BufferRef>& arguments, const CallOptions& options,
                                        KernelCall* call) {
  if (arguments.size() != kernel->arguments.size()) {
    return absl::InvalidArgumentError(Cat("kernel '", kernel->declaration.name, "' reads ", kernel->arguments.size(),
                                          " tensors, but ", arguments.size(), " buffers are given"));
  }
  if (!options.numbers.empty() || options.config.has_value()) {
    return absl::InvalidArgumentError(
        Cat("kernel '", kernel->declaration.name, "': its source has the numbers and the config"));
  }
  PlanKernel wanted;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const SourceTensor& argument = kernel->arguments[i];
    std::string why = WhyNot(arguments[i]);
    if (why.empty()) why = WhyNotPassed(argument, plan_.buffer(arguments[i].id));
    if (!why.empty()) return RefuseTensor(*kernel, "argument", argument, why);
    const PlanBuffer& given = plan_.buffer(arguments[i].id);
    wanted.problem.tensors.push_back({.name = argument.name, .sizes = given.sizes, .dtype = given.dtype});
    call->arguments.push_back(arguments[i].id);
  }
  ASSIGN_OR_RETURN(wanted.outputs, SourceOutputs(*kernel, options));
  wanted.library = &kernel->declaration;
  wanted.source = std::move(kernel);
  call->kernel = Define(std::move(wanted));
  return options.into.empty() ? MakeOutputs(CallKind::kKernel, options, {}, call) : TakeOutputs(options, call);
}

CallOutputs PlanBuilder::CallSource(std::shared_ptr<const SourceKernel> kernel, const std::vector<BufferRef>& arguments,
                                    const CallOptions& options) {
  if (failed()) return {};
  KernelCall call;
  if (absl::Status status = PrepareSource(std::move(kernel), arguments, options, &call); !status.ok()) {
    Fail(std::move(status));
    return {};
  }
  std::vector<BufferRef> outputs;
  for (const int id : call.outputs) outputs.push_back({id});
  plan_.lines.emplace_back(CallKernel{std::move(call)});
  return CallOutputs(std::move(outputs));
}

}  // namespace telemetry::worker::wrapper
