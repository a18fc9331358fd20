#include "worker/wrapper/program/check_run.h"

#include <utility>

#include "proto/base/status_macros.h"
#include "worker/kernels/fits_memory.h"
#include "worker/runtime/tensor.h"
#include "worker/wrapper/program/plan_values.h"

namespace telemetry::worker::wrapper::program {

using runtime::Tensor;

namespace {

std::vector<Tensor> MakeInputs(const Plan& plan, uint64_t seed) {
  std::vector<std::vector<double>> values = DrawInputs(plan, InputRanges(plan), seed);
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < plan.inputs.size(); ++i) {
    const PlanBuffer& input = plan.buffer(plan.inputs[i]);
    inputs.push_back(Tensor::OnHost(
        {.dtype = input.dtype, .sizes = input.sizes, .strides = input.strides, .data = std::move(values[i])}));
  }
  return inputs;
}

// If `device` is null, the runner is on the host.
absl::StatusOr<std::vector<ir::HostArray>> RunOn(PlanRunner* runner, const std::shared_ptr<device::Device>& device,
                                                 std::vector<Tensor> inputs) {
  for (Tensor& input : inputs) {
    if (device == nullptr) continue;
    ASSIGN_OR_RETURN(input, runtime::ToDevice(device, *input.host));
  }
  ASSIGN_OR_RETURN(const std::vector<Tensor> outputs, runner->Run(inputs));
  std::vector<ir::HostArray> arrays;
  for (const Tensor& output : outputs) {
    ASSIGN_OR_RETURN(ir::HostArray array, ToHost(output));
    arrays.push_back(std::move(array));
  }
  return arrays;
}

}  // namespace

absl::Status CheckFitsMemory(const Plan& plan) {
  kernels::Problem problem;
  const std::vector<Place> places = ComputePlaces(plan);
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    const PlanBuffer& buffer = plan.buffers[i];
    if (places[i].root != static_cast<int>(i)) continue;
    problem.tensors.push_back({.name = buffer.name, .sizes = {buffer.span()}, .dtype = buffer.dtype});
  }
  return kernels::CheckFitsMemory(problem);
}

absl::StatusOr<std::vector<ir::Comparison>> RunAndCompare(PlanRunner* runner,
                                                          const std::shared_ptr<device::Device>& device,
                                                          uint64_t seed) {
  const Plan& plan = runner->plan();
  RETURN_IF_ERROR(CheckFitsMemory(plan));
  const std::vector<Tensor> inputs = MakeInputs(plan, seed);
  ASSIGN_OR_RETURN(const std::vector<ir::HostArray> actual, RunOn(runner, device, inputs));
  ASSIGN_OR_RETURN(const std::unique_ptr<PlanRunner> interpreter, PlanRunner::Create(plan, nullptr, nullptr, device));
  ASSIGN_OR_RETURN(const std::vector<ir::HostArray> expected, RunOn(interpreter.get(), nullptr, inputs));
  const std::vector<ir::Tolerance> tolerances = OutputTolerances(plan, /*coarse_dots=*/false);
  std::vector<ir::Comparison> comparisons;
  for (size_t i = 0; i < expected.size(); ++i) {
    comparisons.push_back(ir::Compare(expected[i], actual[i], tolerances[i]));
  }
  return comparisons;
}

}  // namespace telemetry::worker::wrapper::program
