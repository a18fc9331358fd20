#include "worker/runtime/bound_kernel.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "absl/strings/str_join.h"
#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "spdlog/spdlog.h"
#include "worker/codegen/emit/generate.h"
#include "worker/ir/trace.h"
#include "worker/runtime/trace_inputs.h"

namespace telemetry::worker::runtime {

using device::Device;
using record::Cat;

namespace {

absl::StatusOr<ir::DeviceIr> TraceKernel(const KernelDefinition& definition, const Leaves& leaves,
                                         absl::Span<const Argument> arguments) {
  ASSIGN_OR_RETURN(LeafNames names, NameLeaves(definition.signature, arguments));
  ASSIGN_OR_RETURN(ir::TraceInputs inputs, MakeTraceInputs(definition.name, names, leaves, definition.settings));
  ir::Trace trace(std::move(inputs));
  // The trace keeps the first error with its location. Later errors are often only consequences of it.
  Arguments plain;
  for (const Argument& argument : arguments) plain.push_back(argument.WithoutConstExprs());
  trace.Fail(definition.body(trace, plain));
  ASSIGN_OR_RETURN(ir::DeviceIr ir, trace.Finish());
  if (ir.tensors.size() < leaves.tensors.size() || ir.scalars.size() < leaves.scalars.size()) {
    return absl::InternalError(Cat("kernel '", definition.name, "': the trace lost an argument"));
  }
  return ir;
}

codegen::Target MakeTarget(const Device& device, const Settings& settings) {
  codegen::Target target = codegen::Target::For(device.properties());
  target.compute_units = std::max(1, target.compute_units - settings.persistent_reserved_sms);
  return target;
}

std::string SettingsText(const Settings& settings) {
  const auto flag = [](bool value) { return value ? "true" : "false"; };
  return Cat("static_shapes=", flag(settings.static_shapes),
             ", dot_precision=", settings.dot_precision == DotPrecision::kTf32 ? "tf32" : "ieee",
             ", fast_math=", flag(settings.fast_math), ", reference_mode=", flag(settings.reference_mode));
}

}  // namespace

absl::StatusOr<std::shared_ptr<BoundKernel>> BoundKernel::Create(std::shared_ptr<const KernelDefinition> definition,
                                                                 std::string key, absl::Span<const Argument> arguments,
                                                                 std::shared_ptr<Device> device,
                                                                 std::shared_ptr<CompileCache> cache) {
  const Leaves leaves = CollectLeaves(definition->signature, arguments);
  if (device != nullptr) {
    RETURN_IF_ERROR(CheckDevices(leaves, *device));
  }
  ASSIGN_OR_RETURN(ir::DeviceIr ir, TraceKernel(*definition, leaves, arguments));
  const bool static_shapes = definition->settings.static_shapes;
  ASSIGN_OR_RETURN(ExtraKeys extra_keys, ExtraKeys::Of(ir, leaves, static_shapes, device.get()));
  CallContract contract(ir, leaves, static_shapes, std::move(extra_keys));
  RETURN_IF_ERROR(contract.CheckExtents(leaves));
  return std::shared_ptr<BoundKernel>(new BoundKernel(std::move(definition), std::move(key), std::move(ir),
                                                      std::move(contract), std::move(device), std::move(cache)));
}

BoundKernel::BoundKernel(std::shared_ptr<const KernelDefinition> definition, std::string key, ir::DeviceIr ir,
                         CallContract contract, std::shared_ptr<Device> device, std::shared_ptr<CompileCache> cache)
    : definition_(std::move(definition)),
      key_(std::move(key)),
      ir_(std::move(ir)),
      contract_(std::move(contract)),
      config_space_(device == nullptr ? codegen::ConfigSpaceFor(ir_)
                                      : codegen::ConfigSpaceFor(ir_, MakeTarget(*device, definition_->settings))),
      device_(std::move(device)),
      cache_(std::move(cache)) {
  for (const ir::HostTensor& tensor : ir_.tensors) {
    if (tensor.is_output) output_tensors_.push_back(&tensor);
  }
}

absl::StatusOr<codegen::GeneratedKernel> BoundKernel::GenerateWith(const codegen::Config& config,
                                                                   const codegen::GenerateOptions& options) const {
  if (device_ == nullptr) {
    return absl::FailedPreconditionError(Cat("kernel '", name(), "' is in reference mode: there is no code"));
  }
  ASSIGN_OR_RETURN(codegen::Config complete, config_space_.Normalize(config));
  return codegen::emit::Generate(ir_, complete, MakeTarget(*device_, definition_->settings), options);
}

absl::StatusOr<codegen::GeneratedKernel> BoundKernel::Generate(const codegen::Config& config) const {
  return GenerateWith(config, {.allow_tf32 = definition_->settings.dot_precision == DotPrecision::kTf32,
                               .fast_math = definition_->settings.fast_math});
}

absl::StatusOr<codegen::GeneratedKernel> BoundKernel::GeneratePlain(const codegen::Config& config) const {
  return GenerateWith(config, {.tensor_cores = false});
}

absl::StatusOr<std::string> BoundKernel::ToSource(const codegen::Config& config) const {
  ASSIGN_OR_RETURN(codegen::GeneratedKernel generated, Generate(config));
  return std::move(generated.source);
}

absl::StatusOr<std::string> BoundKernel::ToSource() const {
  const absl::StatusOr<codegen::Config> config = ImplicitConfig();
  return ToSource(config.ok() ? *config : config_space_.Default());
}

void BoundKernel::ShowCode(const codegen::Config& config, const std::string& source) const {
  spdlog::debug("{}: output code of {}\n{}", name(), config.ToString(), source);
  if (!definition_->settings.print_output_code) return;
  const std::string text = Cat("// ", name(), ", ", config.ToString(), "\n", source, "\n");
  std::fwrite(text.data(), 1, text.size(), stderr);
}

absl::StatusOr<std::shared_ptr<CompiledKernel>> BoundKernel::CompileConfig(const codegen::Config& config) {
  ASSIGN_OR_RETURN(codegen::Config complete, config_space_.Normalize(config));
  const std::string& text = complete.ToString();
  {
    const absl::MutexLock lock(&mutex_);
    const auto found = compiled_.find(text);
    if (found != compiled_.end()) return found->second;
  }
  ASSIGN_OR_RETURN(codegen::GeneratedKernel generated, Generate(complete));
  ShowCode(complete, generated.source);
  ASSIGN_OR_RETURN(auto function, cache_->Get(*device_, generated.source, generated.function));
  auto compiled = std::make_shared<CompiledKernel>(ir_, std::move(generated), std::move(function));
  const absl::MutexLock lock(&mutex_);
  return compiled_.emplace(text, std::move(compiled)).first->second;
}

absl::Status BoundKernel::SetConfig(const codegen::Config& config) {
  ASSIGN_OR_RETURN(codegen::Config complete, config_space_.Normalize(config));
  ASSIGN_OR_RETURN(std::shared_ptr<CompiledKernel> compiled, CompileConfig(complete));
  const absl::MutexLock lock(&mutex_);
  config_ = std::move(complete);
  current_ = std::move(compiled);
  return absl::OkStatus();
}

std::optional<codegen::Config> BoundKernel::config() const {
  const absl::MutexLock lock(&mutex_);
  return config_;
}

absl::StatusOr<codegen::Config> BoundKernel::ImplicitConfig() const {
  if (std::optional<codegen::Config> set = config(); set.has_value()) return *std::move(set);
  const std::vector<codegen::Config>& fixed = definition_->configs;
  if (fixed.size() == 1) return fixed[0];
  if (fixed.empty() && definition_->settings.use_default_config) return config_space_.Default();
  return absl::FailedPreconditionError(Cat(
      "kernel '", name(), "' needs a config and has ", fixed.empty() ? "none" : Cat(fixed.size(), " to choose from"),
      "; call it or autotune it with arguments, set a config, give it one fixed config, or (where it has no fixed "
      "one) turn on use_default_config"));
}

std::string BoundKernel::DebugString() const {
  const std::optional<codegen::Config> set = config();
  return Cat("kernel ", name(), "\nkey: ", key_, "\nextra keys: ", extra_keys().ToString(),
             "\nsettings: ", SettingsText(definition_->settings),
             "\nconfig: ", set.has_value() ? set->ToString() : "not set", "\n\n", config_space_.DebugString(), "\n",
             ir::DebugString(ir_));
}

}  // namespace telemetry::worker::runtime
