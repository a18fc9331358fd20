#include "worker/wrapper/source_function.h"

#include <string>
#include <utility>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"

namespace telemetry::worker::wrapper {

using device::LaunchArgument;
using record::Cat;
using runtime::Tensor;

absl::Status CheckLanguage(const SourceKernel& kernel, const device::Device* device) {
  if (device == nullptr) {
    return absl::FailedPreconditionError(Cat("kernel '", kernel.declaration.name,
                                             "' is given as source, which only a device that compiles ",
                                             LanguageName(kernel.dialect), " can run; pass one"));
  }
  const device::Dialect compiled = device->properties().dialect;
  if (compiled == kernel.dialect) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat("kernel '", kernel.declaration.name, "' is written in ",
                                        LanguageName(kernel.dialect), ", but ", device->id(), " compiles ",
                                        LanguageName(compiled), "; choose another device"));
}

absl::StatusOr<std::unique_ptr<SourceFunction>> SourceFunction::Create(const std::shared_ptr<device::Device>& device,
                                                                       const SourceKernel& kernel,
                                                                       const SourceCode& code) {
  RETURN_IF_ERROR(CheckLanguage(kernel, device.get()));
  ASSIGN_OR_RETURN(const device::CompiledCode binary, device->Compile(code.source));
  std::unique_ptr<SourceFunction> made(new SourceFunction(kernel, code.shape));
  ASSIGN_OR_RETURN(made->module_, device->Load(binary));
  ASSIGN_OR_RETURN(made->function_,
                   made->module_->GetFunction(binary.function.empty() ? code.function : binary.function));
  return made;
}

absl::Status SourceFunction::Launch(absl::Span<const Tensor> arguments, absl::Span<const Tensor> outputs) {
  std::vector<LaunchArgument> given;
  for (const SourceParameter& parameter : kernel_.parameters) {
    if (const auto* argument = std::get_if<SourceArgument>(&parameter)) {
      given.emplace_back(arguments[argument->index].buffer.get());
    } else if (const auto* output = std::get_if<SourceOutput>(&parameter)) {
      given.emplace_back(outputs[output->index].buffer.get());
    } else {
      given.emplace_back(std::get<SourceNumber>(parameter).bytes);
    }
  }
  return function_->Launch(shape_, given);
}

absl::Status EvaluateReference(const std::shared_ptr<device::Device>& device, const SourceKernel& kernel,
                               absl::Span<const ir::HostArray> arguments, std::vector<ir::HostArray>* outputs) {
  ASSIGN_OR_RETURN(const std::unique_ptr<SourceFunction> function,
                   SourceFunction::Create(device, kernel, kernel.reference));
  std::vector<Tensor> read;
  for (const ir::HostArray& array : arguments) {
    ASSIGN_OR_RETURN(Tensor tensor, runtime::ToDevice(device, array));
    read.push_back(std::move(tensor));
  }
  std::vector<Tensor> written;
  for (const ir::HostArray& array : *outputs) {
    ASSIGN_OR_RETURN(Tensor tensor, runtime::ToDevice(device, array));
    written.push_back(std::move(tensor));
  }
  RETURN_IF_ERROR(function->Launch(read, written));
  RETURN_IF_ERROR(device->Synchronize());
  for (size_t i = 0; i < written.size(); ++i) {
    ASSIGN_OR_RETURN((*outputs)[i], runtime::ToHost(written[i]));
  }
  return absl::OkStatus();
}

}  // namespace telemetry::worker::wrapper
