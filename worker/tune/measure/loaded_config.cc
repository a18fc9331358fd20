#include "worker/tune/measure/loaded_config.h"

#include <cstring>
#include <string>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"

namespace telemetry::worker::tune::measure {
namespace {

using device::LaunchArgument;

device::LaunchShape ToLaunchShape(const wire::Config& config) {
  return {.grid = config.grid(),
          .threads = config.threads(),
          .shared_bytes = config.shared_bytes(),
          .grid_y = config.grid_y(),
          .grid_z = config.grid_z(),
          .threads_y = config.threads_y(),
          .threads_z = config.threads_z()};
}

absl::StatusOr<LaunchArgument> ToScalarBytes(const std::string& raw) {
  device::ScalarBytes scalar;
  if (raw.empty() || raw.size() > scalar.bytes.size()) {
    return absl::InvalidArgumentError(record::Cat("an argument is a number of ", raw.size(), " bytes"));
  }
  std::memcpy(scalar.bytes.data(), raw.data(), raw.size());
  scalar.size = raw.size();
  return LaunchArgument(scalar);
}

absl::StatusOr<LaunchArgument> ToLaunchArgument(const wire::Argument& argument, const ProblemMemory& memory) {
  switch (argument.value_case()) {
    case wire::Argument::kI32:
      return LaunchArgument(argument.i32());
    case wire::Argument::kI64:
      return LaunchArgument(int64_t{argument.i64()});
    case wire::Argument::kF32:
      return LaunchArgument(argument.f32());
    case wire::Argument::kRaw:
      return ToScalarBytes(argument.raw());
    default:
      break;
  }
  const int index = argument.buffer();
  if (index >= 0 && index < memory.buffer_count()) return LaunchArgument(memory.buffer(index));
  return absl::InvalidArgumentError(
      record::Cat("an argument is buffer ", index, ", but the problem's number of buffers is ", memory.buffer_count()));
}

}  // namespace

absl::StatusOr<std::unique_ptr<LoadedConfig>> LoadedConfig::Load(device::Device* device, const ProblemMemory& memory,
                                                                 const wire::Config& config) {
  ASSIGN_OR_RETURN(std::unique_ptr<device::Module> module, device->Load({.binary = config.code()}));
  for (const wire::Symbol& symbol : config.symbols()) {
    if (symbol.buffer() < 0 || symbol.buffer() >= memory.buffer_count()) {
      return absl::InvalidArgumentError(record::Cat("the variable '", symbol.name(), "' has no buffer"));
    }
    RETURN_IF_ERROR(module->SetVariable(symbol.name(), memory.InitialBytes(symbol.buffer())));
  }
  ASSIGN_OR_RETURN(std::unique_ptr<device::Function> function, module->GetFunction(config.function()));
  auto loaded =
      std::unique_ptr<LoadedConfig>(new LoadedConfig(std::move(module), std::move(function), ToLaunchShape(config)));
  for (const wire::Argument& argument : config.arguments()) {
    ASSIGN_OR_RETURN(LaunchArgument value, ToLaunchArgument(argument, memory));
    loaded->arguments_.push_back(value);
  }
  loaded->binary_bytes_ = config.code().size();
  loaded->threads_per_unit_ = device->properties().max_threads_per_compute_unit;
  return loaded;
}

wire::Attributes LoadedConfig::attributes() const {
  const device::FunctionAttributes code = function_->attributes();
  wire::Attributes attributes;
  attributes.set_registers(code.registers);
  attributes.set_spill_bytes(code.spill_bytes);
  attributes.set_shared_bytes(code.static_shared_bytes + shape_.shared_bytes);
  attributes.set_binary_bytes(binary_bytes_);
  attributes.set_blocks_per_unit(function_->BlocksPerUnit(shape_));
  if (threads_per_unit_ > 0) {
    attributes.set_occupancy(static_cast<double>(attributes.blocks_per_unit()) *
                             static_cast<double>(shape_.block_threads()) / threads_per_unit_);
  }
  return attributes;
}

}  // namespace telemetry::worker::tune::measure
