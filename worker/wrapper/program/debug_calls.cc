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
  if (!IsCall(line) || !options.is_on()) return std::nullopt;
  DebugCall made = {.kernel = plan.CallName(line)};
  if (options.level == DebugLevel::kNames) return made;
  made.written = WrittenMemory(plan, places, line);
  made.shows_values = WantsValues(options, made.kernel);
  if (!made.shows_values) return made;
  std::vector<int> buffers;
  size_t next = 0;
  // Has neither memory nor a layout, because only names are used.
  const runtime::Tensor tensor;
  const absl::StatusOr<std::vector<debug::DebugValue>> values =
      CallValues(plan, places, line, [&](int buffer) -> absl::StatusOr<runtime::Tensor> {
        buffers.push_back(buffer);
        return tensor;
      });
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
