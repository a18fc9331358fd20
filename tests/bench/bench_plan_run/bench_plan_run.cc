// bench-plan-run: measures the cost of debugging values in a plan. See README.md beside this file.

#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tests/bench/bench_main.h"
#include "tests/bench/median.h"
#include "worker/debug/value_debugger.h"
#include "worker/device/open_device.h"
#include "worker/wrapper/memory_plan.h"
#include "worker/wrapper/plan_builder.h"
#include "worker/wrapper/run_plan.h"

namespace telemetry::worker::wrapper {
namespace {

using device::Device;
using device::DType;
using runtime::Tensor;

struct Options {
  std::string device = "opencl:0";
  int calls = 32;
  int runs = 300;
  bool printing = true;
};

// Returns a plan that applies exp `calls` times in sequence.
absl::StatusOr<Plan> MakeChain(int calls) {
  PlanBuilder b("chain");
  BufferRef x = b.Input("x", DType::kF32, {64, 64});
  for (int i = 0; i < calls; ++i) x = b.Call("exp", {x})[0];
  b.Output(x);
  absl::StatusOr<Plan> plan = b.Finish();
  if (!plan.ok()) return plan.status();
  absl::StatusOr<MemoryPlan> planned = PlanMemory(*plan);
  if (!planned.ok()) return planned.status();
  return planned->plan;
}

struct Contestant {
  std::string name;
  std::unique_ptr<debug::ValueDebugger> debugger;
  std::unique_ptr<PlanRunner> runner;
  std::vector<double> run_us;
};

absl::StatusOr<std::vector<Contestant>> Contestants(const Plan& plan, const std::shared_ptr<Device>& device,
                                                    bool printing) {
  const auto nowhere = [](std::string_view) {};
  std::vector<Contestant> contestants(3);
  contestants[0].name = "without";
  contestants[1].name = "again";
  contestants[2] = {.name = "level 0", .debugger = debug::ValueDebugger::Create({}, nowhere)};
  if (printing) {
    contestants.push_back(
        {.name = "level 3", .debugger = debug::ValueDebugger::Create({.level = debug::DebugLevel::kNames}, nowhere)});
    contestants.push_back(
        {.name = "level 2", .debugger = debug::ValueDebugger::Create({.level = debug::DebugLevel::kPrint}, nowhere)});
  }
  for (Contestant& contestant : contestants) {
    absl::StatusOr<std::unique_ptr<PlanRunner>> runner = PlanRunner::Create(plan, device, contestant.debugger.get());
    if (!runner.ok()) return runner.status();
    contestant.runner = *std::move(runner);
  }
  return contestants;
}

absl::Status MeasureRun(Device& device, const Tensor& x, Contestant* contestant) {
  const auto begin = std::chrono::steady_clock::now();
  if (absl::Status status = contestant->runner->Run({x}).status(); !status.ok()) return status;
  if (absl::Status status = device.Synchronize(); !status.ok()) return status;
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
  contestant->run_us.push_back(took.count());
  return absl::OkStatus();
}

absl::Status Run(const Options& options) {
  absl::StatusOr<std::shared_ptr<Device>> device = device::OpenDevice(options.device);
  if (!device.ok()) return device.status();
  absl::StatusOr<Plan> plan = MakeChain(options.calls);
  if (!plan.ok()) return plan.status();
  ir::HostArray zeros = ir::HostArray::Dense(DType::kF32, {64, 64});
  zeros.SetRowMajor(std::vector<double>(64 * 64, 0));
  absl::StatusOr<Tensor> x = runtime::ToDevice(*device, zeros);
  if (!x.ok()) return x.status();
  absl::StatusOr<std::vector<Contestant>> contestants = Contestants(*plan, *device, options.printing);
  if (!contestants.ok()) return contestants.status();
  // Contestants run in turn, so that a slow phase of a shared machine affects all of them alike. The first run
  // compiles.
  for (int run = 0; run <= options.runs; ++run) {
    for (Contestant& contestant : *contestants) {
      if (absl::Status status = MeasureRun(**device, *x, &contestant); !status.ok()) return status;
      if (run == 0) contestant.run_us.clear();
    }
  }
  std::printf("%s (%s), %d launches a run\n", (*device)->id().c_str(), (*device)->properties().name.c_str(),
              options.calls);
  const double without_us = bench::Median(contestants->front().run_us);
  for (const Contestant& contestant : *contestants) {
    const double run_us = bench::Median(contestant.run_us);
    std::printf("%-8s %9.3f us a launch   %.3f of that without\n", contestant.name.c_str(), run_us / options.calls,
                run_us / without_us);
  }
  return absl::OkStatus();
}

void AddFlags(CLI::App& app, Options& options) {
  app.add_option("--device", options.device, "cuda:0, opencl:0")->capture_default_str();
  app.add_option("--calls", options.calls, "Launches in the plan")->capture_default_str()->check(CLI::Range(1, 1000));
  app.add_flag("!--off-only", options.printing, "Skip the levels that print, which disturb the others");
  app.add_option("--runs", options.runs, "Runs of each variant")->capture_default_str()->check(CLI::PositiveNumber);
}

}  // namespace
}  // namespace telemetry::worker::wrapper

int main(int argc, char** argv) {
  return telemetry::bench::BenchMain(argc, argv, "bench-plan-run",
                                     "Measures the cost of inspecting the values of a plan",
                                     telemetry::worker::wrapper::AddFlags, telemetry::worker::wrapper::Run);
}
