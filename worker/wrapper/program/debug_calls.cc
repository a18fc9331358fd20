#include "worker/wrapper/program/debug_calls.h"

#include <memory>
#include <utility>

#include "worker/debug/debug_value.h"
#include "worker/debug/value_debugger.h"
#include "worker/runtime/tensor.h"
#include "worker/wrapper/call_values.h"

namespace telemetry::worker::wrapper::program {

using debug::DebugLevel;

namespace {

// Returns true if the run-time debugger shows the values of a kernel.
bool WantsValues(const debug::DebugOptions& options, const std::string& kernel) {
  return debug::ValueDebugger::Create(options)->WantsValues(kernel);
}

}  // namespace

std::optional<DebugCall> MakeDebugCall(const Plan& plan, const std::vector<Place>& places,
                                       const debug::DebugOptions& options, const Line& line) {
  const KernelCall* call = AsKernelCall(line);
  if (call == nullptr || !options.is_on()) return std::nullopt;
  DebugCall made = {.kernel = plan.kernel(call->kernel).name};
  if (options.level == DebugLevel::kNames) return made;
  made.written = WrittenMemory(plan, places, *call);
  made.shows_values = WantsValues(options, made.kernel);
  if (!made.shows_values) return made;
  std::vector<int> buffers = call->arguments;
  buffers.insert(buffers.end(), call->outputs.begin(), call->outputs.end());
  size_t next = 0;
  // Has neither memory nor a layout, because only names are used.
  const runtime::Tensor tensor;
  const absl::StatusOr<std::vector<debug::DebugValue>> values =
      CallValues(plan, places, *call, /*is_extern=*/!std::holds_alternative<CallKernel>(line),
                 [&tensor](int) -> absl::StatusOr<runtime::Tensor> { return tensor; });
  for (const debug::DebugValue& value : *values) {
    made.arguments.push_back({.name = value.name, .is_output = value.is_output});
    DebugArgument& argument = made.arguments.back();
    if (value.tensor() == nullptr) {
      argument.number = debug::NumberText(value);
    } else {
      argument.buffer = buffers[next++];
      argument.memory = value.memory_name();
    }
  }
  return made;
}

std::vector<DebugArgument> MakeDebugInputs(const Plan& plan, const debug::DebugOptions& options) {
  std::vector<DebugArgument> arguments;
  if (options.level != DebugLevel::kPrint) return arguments;
  for (const int input : plan.inputs) arguments.push_back({.name = plan.buffer(input).name, .buffer = input});
  return arguments;
}

}  // namespace telemetry::worker::wrapper::program
