#include "worker/wrapper/file/shape_runner.h"

#include <algorithm>
#include <string>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"

namespace telemetry::worker::wrapper::file {

using record::Cat;
using runtime::Tensor;

ShapeRunner::ShapeRunner(std::shared_ptr<const SymbolicPlan> plan, std::shared_ptr<device::Device> device,
                         Options options)
    : plan_(std::move(plan)),
      device_(std::move(device)),
      options_(std::move(options)),
      pool_(device_ == nullptr ? nullptr : std::make_shared<MemoryPool>(device_)) {}

absl::StatusOr<std::shared_ptr<PlanRunner>> ShapeRunner::RunnerAt(const SymbolValues& sizes) {
  SymbolValues all = sizes;
  for (const PlanSymbol& symbol : plan_->symbols()) all.emplace(symbol.name, symbol.value);
  const auto known =
      std::find_if(runners_.begin(), runners_.end(), [&](const auto& runner) { return runner.first == all; });
  if (known != runners_.end()) {
    runners_.splice(runners_.begin(), runners_, known);
    return known->second;
  }
  ASSIGN_OR_RETURN(Plan plan, plan_->At(sizes));
  if (options_.plans_memory) {
    ASSIGN_OR_RETURN(MemoryPlan planned, PlanMemory(plan, options_.scope));
    plan = std::move(planned.plan);
  }
  ASSIGN_OR_RETURN(std::shared_ptr<PlanRunner> runner,
                   PlanRunner::Create(std::move(plan), device_, options_.debugger, options_.references, pool_));
  runners_.emplace_front(std::move(all), runner);
  if (runners_.size() > std::max<size_t>(options_.most_runners, 1)) runners_.pop_back();
  return runner;
}

absl::StatusOr<std::vector<Tensor>> ShapeRunner::Run(absl::Span<const Tensor> inputs, const SymbolValues& sizes) {
  std::vector<std::vector<int64_t>> shapes;
  for (const Tensor& input : inputs) shapes.emplace_back(input.sizes.begin(), input.sizes.end());
  ASSIGN_OR_RETURN(SymbolValues values, plan_->SizesOf(shapes));
  for (const auto& [name, value] : sizes) {
    const auto [of_inputs, is_new] = values.emplace(name, value);
    if (is_new || of_inputs->second == value) continue;
    return absl::InvalidArgumentError(
        Cat("symbol '", name, "' is ", value, ", but ", of_inputs->second, " in the sizes of the inputs"));
  }
  ASSIGN_OR_RETURN(const std::shared_ptr<PlanRunner> runner, RunnerAt(values));
  return runner->Run(inputs);
}

}  // namespace telemetry::worker::wrapper::file
