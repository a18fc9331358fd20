#include "worker/debug/debugged_call.h"

#include <string>
#include <utility>
#include <vector>

#include "proto/base/status_macros.h"
#include "worker/runtime/leaves.h"

namespace telemetry::worker::debug {
namespace {

using runtime::Argument;
using runtime::BoundKernel;
using runtime::Tensor;

DebugValue MakeNumberValue(std::string name, const Argument& argument) {
  DebugValue value = {.name = std::move(name)};
  if (const auto* flag = argument.As<bool>()) {
    value.value = *flag;
  } else if (const auto* integer = argument.As<int64_t>()) {
    value.value = *integer;
  } else {
    value.value = argument.number();
  }
  return value;
}

// Returns the tensors and numbers in the arguments, including those in lists and tuples, then the outputs.
absl::StatusOr<std::vector<DebugValue>> ValuesOfCall(const BoundKernel& kernel, absl::Span<const Argument> arguments,
                                                     absl::Span<const Tensor> outputs) {
  const runtime::Signature& signature = kernel.definition().signature;
  ASSIGN_OR_RETURN(const runtime::LeafNames names, runtime::NameLeaves(signature, arguments));
  const runtime::Leaves leaves = runtime::CollectLeaves(signature, arguments);
  std::vector<DebugValue> values;
  for (size_t i = 0; i < leaves.tensors.size(); ++i) {
    values.push_back({.name = names.tensors[i], .value = *leaves.tensors[i]});
  }
  for (size_t i = 0; i < leaves.scalars.size(); ++i)
    values.push_back(MakeNumberValue(names.scalars[i], *leaves.scalars[i]));
  for (size_t i = 0; i < leaves.constants.size(); ++i) {
    if (leaves.constants[i]->is_number()) values.push_back(MakeNumberValue(names.constants[i], *leaves.constants[i]));
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const size_t tensor = leaves.tensors.size() + i;
    values.push_back({.name = kernel.ir().tensors[tensor].name, .value = outputs[i], .is_output = true});
  }
  return values;
}

}  // namespace

bool PicksAtRunTime(const runtime::KernelDefinition& kernel) {
  if (kernel.settings.reference_mode) return false;
  if (kernel.settings.force_autotune || kernel.configs.size() > 1) return true;
  return kernel.configs.empty() && !kernel.settings.use_default_config;
}

absl::Status RunInto(BoundKernel& kernel, absl::Span<const Argument> arguments, absl::Span<const Tensor> outputs,
                     ValueDebugger* debugger) {
  if (debugger == nullptr) return kernel.RunInto(arguments, outputs);
  if (PicksAtRunTime(kernel.definition())) debugger->StayOff(kernel.name());
  const auto list = [&] { return ValuesOfCall(kernel, arguments, outputs); };
  if (debugger->WantsValues(kernel.name())) debugger->BeginProgram(kernel.name(), list);
  debugger->BeforeLaunch(kernel.name(), list);
  absl::Status status = kernel.RunInto(arguments, outputs);
  if (status.ok()) status = kernel.device()->Synchronize();
  if (status.ok()) debugger->AfterLaunch(kernel.name(), {}, list);
  return status;
}

}  // namespace telemetry::worker::debug
