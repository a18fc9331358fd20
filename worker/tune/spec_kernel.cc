#include "worker/tune/spec_kernel.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/spec/argument_data.h"
#include "worker/spec/kernel_launch.h"
#include "worker/spec/spec_space.h"

namespace telemetry::worker::tune {
namespace {

using codegen::Config;
using record::Cat;
using spec::Argument;
using spec::LaunchSize;
using spec::Specification;

std::string_view LanguageName(device::Dialect dialect) { return dialect == device::Dialect::kCuda ? "CUDA" : "OpenCL"; }

absl::StatusOr<device::ScalarBytes> ScalarOf(const Argument& argument) {
  ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, spec::InitialBytes(argument, ""));
  device::ScalarBytes scalar;
  if (bytes.size() > scalar.bytes.size()) {
    return absl::UnimplementedError(Cat("the scalar '", argument.name, "' has more than 16 bytes"));
  }
  std::copy(bytes.begin(), bytes.end(), scalar.bytes.begin());
  scalar.size = bytes.size();
  return scalar;
}

spec::LaunchLimits LimitsOf(const device::DeviceProperties& properties) {
  spec::LaunchLimits limits = {.threads_per_block = properties.max_threads_per_block,
                               .shared_bytes = static_cast<int64_t>(properties.shared_bytes_per_block)};
  if (properties.dialect != device::Dialect::kCuda) return limits;
  // The limits of all architectures that CUDA 12 and later versions support.
  limits.threads = {1024, 1024, 64};
  limits.grid = {0x7fffffff, 65535, 65535};
  return limits;
}

}  // namespace

absl::Status CheckArguments(const Specification& spec) {
  for (size_t i = 0; i < spec.arguments.size(); ++i) {
    const Argument& argument = spec.arguments[i];
    if (argument.memory == Argument::Memory::kSymbol && spec.dialect == device::Dialect::kOpenCl) {
      return absl::UnimplementedError(
          Cat("KernelSpecification.Arguments[", i, "]: OpenCL has no variables that the host sets; use a Vector"));
    }
    if (argument.memory == Argument::Memory::kLocal && i + 1 < spec.arguments.size()) {
      return absl::UnimplementedError(
          Cat("KernelSpecification.Arguments[", i, "]: local memory is supported as the last argument only"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const SpecKernel>> SpecKernel::Create(std::shared_ptr<const Specification> spec,
                                                                     std::shared_ptr<device::Device> device) {
  if (device != nullptr && device->properties().dialect != spec->dialect) {
    return absl::InvalidArgumentError(Cat("KernelSpecification.Language: the kernel is written in ",
                                          LanguageName(spec->dialect), ", and the device ", device->id(), " compiles ",
                                          LanguageName(device->properties().dialect)));
  }
  RETURN_IF_ERROR(CheckArguments(*spec));
  ASSIGN_OR_RETURN(spec::ConfigSource source, spec::ConfigSource::Create(*spec, spec->kernel_file, spec->kernel_name));
  ASSIGN_OR_RETURN(codegen::ConfigSpace space, spec::MakeConfigSpace(spec));
  return std::shared_ptr<const SpecKernel>(
      new SpecKernel(std::move(spec), std::move(device), std::move(source), std::move(space)));
}

absl::StatusOr<LaunchSize> SpecKernel::SizeOf(const std::vector<size_t>& config) const {
  const spec::LaunchLimits limits = device_ == nullptr ? spec::LaunchLimits() : LimitsOf(device_->properties());
  return spec::KernelLaunch(*spec_, spec_->launch, declared_, config, limits);
}

absl::StatusOr<LaunchSize> SpecKernel::LaunchOf(const Config& config) const {
  ASSIGN_OR_RETURN(const Config normal, space_.Normalize(config));
  ASSIGN_OR_RETURN(const std::vector<size_t> indexes, spec::ToIndexes(*spec_, normal));
  return SizeOf(indexes);
}

absl::StatusOr<std::vector<spec::Macro>> SpecKernel::MacrosOf(const Config& config) const {
  ASSIGN_OR_RETURN(const Config normal, space_.Normalize(config));
  ASSIGN_OR_RETURN(const std::vector<size_t> indexes, spec::ToIndexes(*spec_, normal));
  return spec::MacrosOfConfig(*spec_, indexes);
}

absl::StatusOr<codegen::GeneratedKernel> SpecKernel::Generate(const Config& config) const {
  ASSIGN_OR_RETURN(const Config normal, space_.Normalize(config));
  ASSIGN_OR_RETURN(const std::vector<size_t> indexes, spec::ToIndexes(*spec_, normal));
  ASSIGN_OR_RETURN(const LaunchSize size, SizeOf(indexes));
  ASSIGN_OR_RETURN(std::string source, source_.For(*spec_, indexes));
  codegen::GeneratedKernel kernel = {.source = std::move(source),
                                     .function = source_.function(),
                                     .threads = static_cast<int>(size.threads_per_block()),
                                     .shared_bytes = static_cast<size_t>(size.shared_bytes)};
  // Configs with equal sources may have other launches; Candidates compares the blocks of the axes.
  for (size_t axis = 0; axis < 3; ++axis) {
    kernel.grid.push_back({.block = size.grid[axis]});
    kernel.grid.push_back({.block = size.threads[axis]});
  }
  return kernel;
}

absl::StatusOr<measure::MeasureRequest> SpecKernel::MakeRequest(
    const Config& config, const codegen::GeneratedKernel& generated,
    std::shared_ptr<const device::CompiledCode> code) const {
  ASSIGN_OR_RETURN(const LaunchSize size, LaunchOf(config));
  return MakeRequest(generated.function, size, std::move(code));
}

absl::StatusOr<measure::MeasureRequest> SpecKernel::MakeRequest(
    const std::string& function, const LaunchSize& size, std::shared_ptr<const device::CompiledCode> code) const {
  measure::MeasureRequest request = {
      .code = std::move(code), .shape = spec::ToLaunchShape(size), .kernel = spec_->kernel_name};
  request.function = request.code->function.empty() ? function : request.code->function;
  int buffer = 0;
  for (const Argument& argument : spec_->arguments) {
    if (argument.memory == Argument::Memory::kLocal) continue;  // passed as shared_bytes
    const bool is_symbol = argument.memory == Argument::Memory::kSymbol;
    if (is_symbol || argument.is_symbol_too) request.symbols.push_back({.name = argument.name, .buffer = buffer});
    if (is_symbol) {
      ++buffer;
      continue;
    }
    request.argument_labels.push_back({.name = argument.name});
    if (argument.memory == Argument::Memory::kVector) {
      request.arguments.emplace_back(measure::BufferIndex{buffer++});
      continue;
    }
    ASSIGN_OR_RETURN(const device::ScalarBytes scalar, ScalarOf(argument));
    request.arguments.emplace_back(scalar);
  }
  return request;
}

}  // namespace telemetry::worker::tune
