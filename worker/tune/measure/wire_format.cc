#include "worker/tune/measure/wire_format.h"

#include <utility>

namespace telemetry::worker::tune::measure {
namespace {

wire::Argument ToWire(const RequestArgument& argument) {
  wire::Argument message;
  if (const auto* buffer = std::get_if<BufferIndex>(&argument)) message.set_buffer(buffer->index);
  if (const auto* value = std::get_if<int32_t>(&argument)) message.set_i32(*value);
  if (const auto* value = std::get_if<int64_t>(&argument)) message.set_i64(*value);
  if (const auto* value = std::get_if<float>(&argument)) message.set_f32(*value);
  if (const auto* value = std::get_if<device::ScalarBytes>(&argument)) {
    message.set_raw(std::string(reinterpret_cast<const char*>(value->bytes.data()), value->size));
  }
  return message;
}

void Label(const ArgumentLabel& label, wire::Argument* argument) {
  argument->set_name(label.name);
  argument->set_is_flag(label.is_flag);
  argument->set_is_size(label.is_size);
}

wire::Effort ToWire(const MeasureEffort& effort) {
  wire::Effort message;
  message.set_give_up_above_ms(effort.give_up_above_ms);
  message.set_far_above_ms(effort.far_above_ms);
  message.set_min_samples(effort.min_samples);
  message.set_max_samples(effort.max_samples);
  message.set_precision(effort.precision);
  message.set_budget_ms(absl::ToDoubleMilliseconds(effort.budget));
  message.set_exact(effort.exact);
  message.set_warm(effort.warm);
  return message;
}

}  // namespace

wire::Debug ToWire(const debug::DebugOptions& options) {
  wire::Debug message;
  message.set_level(static_cast<int32_t>(options.level));
  message.mutable_kernels()->Add(options.kernels.begin(), options.kernels.end());
  message.set_folder(options.folder);
  return message;
}

debug::DebugOptions FromWire(const wire::Debug& message) {
  return {.level = static_cast<debug::DebugLevel>(message.level()),
          .kernels = {message.kernels().begin(), message.kernels().end()},
          .folder = message.folder()};
}

wire::Config ToWire(const MeasureRequest& request) {
  wire::Config config;
  config.set_code(request.code->binary);
  config.set_function(request.function);
  for (size_t i = 0; i < request.arguments.size(); ++i) {
    wire::Argument* argument = config.add_arguments();
    *argument = ToWire(request.arguments[i]);
    if (i < request.argument_labels.size()) Label(request.argument_labels[i], argument);
  }
  config.set_kernel(request.kernel);
  config.set_label(request.label);
  config.set_grid(request.shape.grid);
  config.set_threads(request.shape.threads);
  config.set_grid_y(request.shape.grid_y);
  config.set_grid_z(request.shape.grid_z);
  config.set_threads_y(request.shape.threads_y);
  config.set_threads_z(request.shape.threads_z);
  config.set_shared_bytes(request.shape.shared_bytes);
  for (const SymbolContents& symbol : request.symbols) {
    wire::Symbol* message = config.add_symbols();
    message->set_name(symbol.name);
    message->set_buffer(symbol.buffer);
  }
  *config.mutable_effort() = ToWire(request.effort);
  return config;
}

}  // namespace telemetry::worker::tune::measure
