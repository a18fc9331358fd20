#include "worker/wrapper/call_values.h"

#include <optional>
#include <utility>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"

namespace telemetry::worker::wrapper {
namespace {

using runtime::Tensor;

const std::string& MemoryName(const Plan& plan, const std::vector<Place>& places, int buffer) {
  return plan.buffer(places[static_cast<size_t>(buffer)].root).name;
}

void AddSourceNumbers(const SourceKernel& kernel, std::vector<debug::DebugValue>* values) {
  for (const SourceParameter& parameter : kernel.parameters) {
    const auto* number = std::get_if<SourceNumber>(&parameter);
    if (number == nullptr) continue;
    values->push_back({.name = number->name});
    std::visit([&](auto value) { values->back().value = value; }, number->value);
  }
}

}  // namespace

std::vector<debug::DebugValue> InputValues(const Plan& plan, absl::Span<const Tensor> inputs) {
  std::vector<debug::DebugValue> values;
  for (size_t i = 0; i < inputs.size(); ++i) {
    values.push_back({.name = plan.buffer(plan.inputs[i]).name, .value = inputs[i]});
  }
  return values;
}

absl::StatusOr<std::vector<debug::DebugValue>> CallValues(const Plan& plan, const std::vector<Place>& places,
                                                          const Line& line,
                                                          absl::FunctionRef<absl::StatusOr<Tensor>(int)> tensor_of) {
  std::vector<debug::DebugValue> values;
  const auto add = [&](const std::string& name, int buffer, bool is_output) {
    ASSIGN_OR_RETURN(Tensor tensor, tensor_of(buffer));
    values.push_back({.name = name,
                      .value = std::move(tensor),
                      .buffer = plan.buffer(buffer).name,
                      .memory = MemoryName(plan, places, buffer),
                      .is_output = is_output});
    return absl::OkStatus();
  };
  if (const std::optional<Update> put = AsUpdate(line)) {
    // The target is no output: its earlier content counts.
    RETURN_IF_ERROR(add("target", put->target, /*is_output=*/false));
    RETURN_IF_ERROR(add("indices", put->indices, /*is_output=*/false));
    if (put->values < 0) {
      values.push_back({.name = "values", .value = std::get<Scatter>(line).number});
    } else {
      RETURN_IF_ERROR(add("values", put->values, /*is_output=*/false));
    }
    return values;
  }
  if (const auto* joined = std::get_if<Concatenate>(&line)) {
    for (size_t i = 0; i < joined->tensors.size(); ++i) {
      RETURN_IF_ERROR(add(record::Cat("tensors_", i), joined->tensors[i], /*is_output=*/false));
    }
    RETURN_IF_ERROR(add("out", joined->output, /*is_output=*/true));
    return values;
  }
  const KernelCall& call = *AsKernelCall(line);
  const PlanKernel& kernel = plan.kernel(call.kernel);
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    RETURN_IF_ERROR(add(kernel.library->tensors[i].name, call.arguments[i], /*is_output=*/false));
  }
  for (const kernels::NumberArgument& number : kernel.library->numbers) {
    if (!std::holds_alternative<CallKernel>(line)) break;
    const auto given = call.scalars.find(number.name);
    const double value = given != call.scalars.end() ? given->second : kernel.problem.number(number.name);
    debug::DebugValue shown = {.name = number.name, .value = value};
    if (number.is_flag) shown.value = value != 0;
    values.push_back(std::move(shown));
  }
  if (kernel.source != nullptr) AddSourceNumbers(*kernel.source, &values);
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    // The earlier content of an output that the kernel reads counts.
    const bool is_output = kernel.source == nullptr || !kernel.source->outputs[i].is_read;
    RETURN_IF_ERROR(add(kernel.outputs[i].name, call.outputs[i], is_output));
  }
  return values;
}

std::vector<std::string> WrittenMemory(const Plan& plan, const std::vector<Place>& places, const Line& line) {
  if (const std::optional<Update> put = AsUpdate(line)) return {MemoryName(plan, places, put->target)};
  if (const auto* joined = std::get_if<Concatenate>(&line)) return {MemoryName(plan, places, joined->output)};
  std::vector<std::string> names;
  for (const int buffer : AsKernelCall(line)->outputs) names.push_back(MemoryName(plan, places, buffer));
  return names;
}

}  // namespace telemetry::worker::wrapper
