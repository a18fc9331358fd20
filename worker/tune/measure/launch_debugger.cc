#include "worker/tune/measure/launch_debugger.h"

#include <string>
#include <vector>

#include "proto/record/strings.h"

namespace telemetry::worker::tune::measure {
namespace {

using debug::DebugValue;
using record::Cat;

DebugValue ReadValue(const wire::Argument& argument, const ProblemMemory& memory) {
  DebugValue value = {.name = argument.name()};
  switch (argument.value_case()) {
    case wire::Argument::kI32:
      value.value = int64_t{argument.i32()};
      if (argument.is_flag()) value.value = argument.i32() != 0;
      break;
    case wire::Argument::kI64:
      value.value = int64_t{argument.i64()};
      if (argument.is_size()) value.value = debug::SymbolicSize{argument.i64()};
      break;
    case wire::Argument::kF32:
      value.value = static_cast<double>(argument.f32());
      break;
    default:
      value.name = memory.name(argument.buffer());
      value.value = memory.tensor(argument.buffer());
      value.is_output = !memory.HasContents(argument.buffer());
      break;
  }
  return value;
}

std::vector<DebugValue> ReadValues(const wire::Config& config, const ProblemMemory& memory) {
  std::vector<DebugValue> values;
  for (const wire::Argument& argument : config.arguments()) values.push_back(ReadValue(argument, memory));
  return values;
}

}  // namespace

std::unique_ptr<LaunchDebugger> LaunchDebugger::Create(const debug::DebugOptions& options, const ProblemMemory* memory,
                                                       debug::DebugPrint print) {
  if (!options.is_on()) return nullptr;
  std::unique_ptr<debug::ValueDebugger> debugger = debug::ValueDebugger::Create(options, print);
  return std::unique_ptr<LaunchDebugger>(
      new LaunchDebugger(std::move(debugger), options.level, memory, std::move(print)));
}

void LaunchDebugger::BeforeLaunch(const wire::Config& config, int data_set) {
  const auto list = [&] { return absl::StatusOr<std::vector<DebugValue>>(ReadValues(config, *memory_)); };
  const auto none = [] { return absl::StatusOr<std::vector<DebugValue>>(std::vector<DebugValue>()); };
  const bool is_wanted = debugger_->WantsValues(config.kernel());
  if (is_wanted && data_set != data_set_) {
    debugger_->BeginProgram(config.kernel(), list);
    data_set_ = data_set;
  } else {
    debugger_->BeginProgram(config.kernel(), none);
  }
  if (is_wanted && level_ == debug::DebugLevel::kPrint) print_(Cat("[config] ", config.label()));
  debugger_->BeforeLaunch(config.kernel(), list);
}

void LaunchDebugger::AfterLaunch(const wire::Config& config) {
  debugger_->AfterLaunch(config.kernel(), {},
                         [&] { return absl::StatusOr<std::vector<DebugValue>>(ReadValues(config, *memory_)); });
  const int number = debugger_->saved_launch(config.kernel());
  if (number > 0) print_(Cat("[config] launch ", number, " of ", config.kernel(), ": ", config.label()));
}

void LaunchDebugger::AddFirstNan(wire::Failure* failure) const {
  if (!debugger_->first_nan().has_value()) return;
  failure->set_message(Cat(failure->message(), "; ", debugger_->first_nan()->ToString()));
}

}  // namespace telemetry::worker::tune::measure
