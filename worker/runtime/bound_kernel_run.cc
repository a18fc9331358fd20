// Autotuning and calls of a BoundKernel.

#include <algorithm>
#include <utility>

#include "absl/strings/str_join.h"
#include "proto/base/status_macros.h"
#include "proto/record/counted.h"
#include "proto/record/strings.h"
#include "spdlog/spdlog.h"
#include "worker/ir/reference/reference.h"
#include "worker/runtime/bound_kernel.h"

namespace telemetry::worker::runtime {

using record::Cat;

absl::StatusOr<codegen::Config> BoundKernel::FindConfig(absl::Span<const Argument> arguments, AutotuneOptions options) {
  if (ReferenceMode()) {
    return absl::FailedPreconditionError(
        Cat("kernel '", name(), "' is in reference mode: there is nothing to autotune"));
  }
  options.force = options.force || definition_->settings.force_autotune;
  if (options.configs.empty() && !options.force) options.configs = definition_->configs;
  if (options.configs.size() == 1) return options.configs.front();
  if (options.configs.empty() && definition_->settings.disallow_autotuning) {
    return absl::FailedPreconditionError(
        Cat("kernel '", name(),
            "' would be autotuned, which the setting disallow_autotuning forbids; give "
            "it a config, or turn on use_default_config"));
  }
  if (definition_->search == nullptr) {
    return absl::FailedPreconditionError(
        Cat("kernel '", name(), "' would be autotuned, but was built without a search (KernelSpec::search)"));
  }
  return definition_->search->Find(*this, arguments, options);
}

absl::StatusOr<codegen::Config> BoundKernel::Autotune(absl::Span<const Argument> arguments, AutotuneOptions options) {
  if (absl::StatusOr<Leaves> leaves = CheckedLeaves(arguments); !leaves.ok()) return leaves.status();
  const absl::MutexLock lock(&autotune_mutex_);
  ASSIGN_OR_RETURN(codegen::Config found, FindConfig(arguments, std::move(options)));
  absl::Status set = SetConfig(found);
  if (!set.ok()) return set;
  ReportForRepro(arguments, "autotuning found this config");
  return found;
}

absl::Status BoundKernel::WriteRepro(absl::Span<const Argument> arguments, const std::string& reason) const {
  if (absl::StatusOr<Leaves> leaves = CheckedLeaves(arguments); !leaves.ok()) return leaves.status();
  if (ReferenceMode()) {
    return absl::FailedPreconditionError(Cat("kernel '", name(), "' is in reference mode: there is no code to repeat"));
  }
  if (definition_->repro_writer == nullptr) {
    return absl::FailedPreconditionError(Cat("kernel '", name(),
                                             "' has no writer of programs; set KernelSpec::repro_writer to that of ",
                                             "repro::NewReproWriter"));
  }
  ASSIGN_OR_RETURN(const codegen::Config config, ImplicitConfig());
  return definition_->repro_writer->Write(*this, config, arguments, reason);
}

void BoundKernel::ReportForRepro(absl::Span<const Argument> arguments, const std::string& reason) const {
  if (!definition_->settings.print_repro) return;
  const absl::Status written = WriteRepro(arguments, reason);
  if (!written.ok()) spdlog::warn("{}: no program that repeats the call was written: {}", name(), written.ToString());
}

absl::StatusOr<std::shared_ptr<CompiledKernel>> BoundKernel::ConfigToRun(absl::Span<const Argument> arguments) {
  {
    const absl::MutexLock lock(&mutex_);
    if (current_ != nullptr) return current_;
  }
  const absl::MutexLock autotune_lock(&autotune_mutex_);
  absl::StatusOr<codegen::Config> config = ImplicitConfig();
  const bool is_set = this->config().has_value();  // by a thread that held autotune_mutex_ before
  if (!is_set && (!config.ok() || definition_->settings.force_autotune)) config = FindConfig(arguments, {});
  if (!config.ok()) return config.status();
  RETURN_IF_ERROR(SetConfig(*config));
  const absl::MutexLock lock(&mutex_);
  return current_;
}

absl::StatusOr<Leaves> BoundKernel::CheckedLeaves(absl::Span<const Argument> arguments) const {
  if (!definition_->signature.IsComplete(arguments.size())) {
    return absl::InvalidArgumentError(Cat(name(), "(): a bound kernel takes ",
                                          record::Counted(definition_->signature.parameters().size(), "argument"),
                                          ", not ", arguments.size(), "; Kernel::Normalize fills in defaults"));
  }
  Leaves leaves = CollectLeaves(definition_->signature, arguments);
  RETURN_IF_ERROR(contract_.Check(leaves));
  return leaves;
}

absl::StatusOr<std::vector<Tensor>> BoundKernel::AllocateOutputs(const Leaves& leaves) const {
  if (device_ == nullptr) {
    return absl::FailedPreconditionError(Cat("kernel '", name(), "' is in reference mode: there is no device"));
  }
  std::vector<Tensor> outputs;
  outputs.reserve(output_tensors_.size());
  for (const ir::HostTensor* tensor : output_tensors_) {
    ASSIGN_OR_RETURN(Tensor output,
                     AllocateTensor(device_, tensor->dtype, CallContract::ComputeSizes(*tensor, leaves)));
    outputs.push_back(std::move(output));
  }
  return outputs;
}

absl::StatusOr<std::vector<Tensor>> BoundKernel::AllocateOutputs(absl::Span<const Argument> arguments) const {
  ASSIGN_OR_RETURN(Leaves leaves, CheckedLeaves(arguments));
  return AllocateOutputs(leaves);
}

absl::Status BoundKernel::CheckOutputs(const Leaves& leaves, absl::Span<const Tensor> outputs) const {
  if (outputs.size() != output_tensors_.size()) {
    return absl::InvalidArgumentError(Cat(name(), "() has ", record::Counted(output_tensors_.size(), "output"),
                                          ", but ", outputs.size(), " are given"));
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Tensor& output = outputs[i];
    const ir::HostTensor& wanted = *output_tensors_[i];
    const Dimensions sizes = CallContract::ComputeSizes(wanted, leaves);
    const bool fits = output.dtype == wanted.dtype && output.sizes == sizes && output.strides == DenseStrides(sizes) &&
                      output.device == device_ && output.buffer != nullptr &&
                      output.buffer->size_bytes() >= static_cast<size_t>(output.span()) * SizeOf(output.dtype);
    if (fits) continue;
    return absl::InvalidArgumentError(Cat(name(), "(): output '", wanted.name, "' does not fit ", output.ToString(),
                                          "; it has to be ", ShortName(wanted.dtype),
                                          ", dense and row-major, with sizes [", absl::StrJoin(sizes, ", "), "] on ",
                                          device_ == nullptr ? "the host" : device_->id()));
  }
  return absl::OkStatus();
}

absl::Status BoundKernel::Launch(CompiledKernel& compiled, absl::Span<const Argument> arguments,
                                 absl::Span<const Tensor> outputs) const {
  ASSIGN_OR_RETURN(Leaves leaves, CheckedLeaves(arguments));
  RETURN_IF_ERROR(CheckOutputs(leaves, outputs));
  return compiled.Launch(leaves, outputs);
}

absl::Status BoundKernel::RunMatchedInto(absl::Span<const Argument> arguments, const Leaves& leaves,
                                         absl::Span<const Tensor> outputs) {
  if (ReferenceMode()) {
    return absl::FailedPreconditionError(
        Cat("kernel '", name(), "' is in reference mode, which allocates its own outputs"));
  }
  RETURN_IF_ERROR(CheckOutputs(leaves, outputs));
  absl::Status status = LaunchConfig(arguments, leaves, outputs);
  if (!status.ok()) ReportForRepro(arguments, status.ToString());
  return status;
}

absl::Status BoundKernel::LaunchConfig(absl::Span<const Argument> arguments, const Leaves& leaves,
                                       absl::Span<const Tensor> outputs) {
  ASSIGN_OR_RETURN(std::shared_ptr<CompiledKernel> compiled, ConfigToRun(arguments));
  RETURN_IF_ERROR(compiled->Launch(leaves, outputs));
  return definition_->settings.print_repro ? device_->Synchronize() : absl::OkStatus();
}

absl::StatusOr<std::vector<Tensor>> BoundKernel::RunMatched(absl::Span<const Argument> arguments,
                                                            const Leaves& leaves) {
  if (ReferenceMode()) return RunReference(leaves);
  absl::StatusOr<std::vector<Tensor>> outputs = RunOnDevice(arguments, leaves);
  if (!outputs.ok()) ReportForRepro(arguments, outputs.status().ToString());
  return outputs;
}

absl::StatusOr<std::vector<Tensor>> BoundKernel::RunOnDevice(absl::Span<const Argument> arguments,
                                                             const Leaves& leaves) {
  if (absl::StatusOr<std::shared_ptr<CompiledKernel>> compiled = ConfigToRun(arguments); !compiled.ok()) {
    return compiled.status();
  }
  ASSIGN_OR_RETURN(std::vector<Tensor> outputs, AllocateOutputs(leaves));
  RETURN_IF_ERROR(LaunchConfig(arguments, leaves, outputs));
  return outputs;
}

absl::StatusOr<std::vector<Tensor>> BoundKernel::RunReference(const Leaves& leaves) const {
  ir::reference::Tensors tensors;
  for (const Tensor* tensor : leaves.tensors) {
    ASSIGN_OR_RETURN(ir::HostArray array, ToHost(*tensor));
    tensors.push_back(std::move(array));
  }
  ir::reference::Options options;
  for (size_t i = 0; i < leaves.scalars.size(); ++i) options.scalars[ir_.scalars[i].name] = leaves.scalars[i]->number();
  RETURN_IF_ERROR(ir::reference::Evaluate(ir_, options, &tensors));
  // Copies results that the kernel stored to its arguments back to the caller's tensors.
  for (size_t i = 0; i < leaves.tensors.size(); ++i) {
    if (leaves.tensors[i]->host != nullptr) *leaves.tensors[i]->host = std::move(tensors[i]);
  }
  std::vector<Tensor> outputs;
  for (size_t i = leaves.tensors.size(); i < tensors.size(); ++i)
    outputs.push_back(Tensor::OnHost(std::move(tensors[i])));
  return outputs;
}

absl::StatusOr<std::vector<Tensor>> BoundKernel::Run(absl::Span<const Argument> arguments) {
  ASSIGN_OR_RETURN(Leaves leaves, CheckedLeaves(arguments));
  return RunMatched(arguments, leaves);
}

absl::Status BoundKernel::RunInto(absl::Span<const Argument> arguments, absl::Span<const Tensor> outputs) {
  ASSIGN_OR_RETURN(Leaves leaves, CheckedLeaves(arguments));
  return RunMatchedInto(arguments, leaves, outputs);
}

}  // namespace telemetry::worker::runtime
