// bench-bound-call: measures the cost of a call of a kernel beyond the launch in it. See README.md beside this file.

#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tests/bench/bench_main.h"
#include "tests/bench/median.h"
#include "worker/device/device.h"
#include "worker/device/open_device.h"
#include "worker/runtime/kernel.h"

namespace telemetry::worker {
namespace {

using device::Device;
using runtime::Arguments;
using runtime::BoundKernel;
using runtime::Kernel;
using runtime::Tensor;
using runtime::ToDevice;

constexpr int64_t kElements = 1024;

struct Options {
  std::string device = "opencl:0";
  int batch = 100;
  int batches = 200;
  bool symbolic = false;
};

// out = x + scale * y, over vectors.
absl::Status AddScaled(ir::Trace& trace) {
  const ir::TensorRef x = trace.Tensor("x");
  const ir::TensorRef y = trace.Tensor("y");
  const ir::TensorRef out = trace.OutputLike("out", x);
  const ir::AxisRef m = trace.Tile(trace.SizeOf(x, 0));
  trace.Store(out, {m}, trace.Load(x, {m}) + trace.Scalar("scale") * trace.Load(y, {m}));
  return absl::OkStatus();
}

runtime::KernelSpec Spec(bool symbolic) {
  return {.name = "add_scaled",
          .parameters = {{.name = "x"}, {.name = "y"}, {.name = "scale", .kind = runtime::ParameterKind::kScalar}},
          .body = AddScaled,
          .settings = runtime::Settings{.static_shapes = !symbolic, .use_default_config = true}};
}

// One way to launch the kernel, with the average time of a call in each batch.
struct Contestant {
  std::string name;
  std::function<absl::Status()> call;
  std::vector<double> call_us;
};

absl::Status MeasureBatch(Device& device, int calls, Contestant* contestant) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) {
    if (absl::Status status = contestant->call(); !status.ok()) return status;
  }
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
  contestant->call_us.push_back(took.count() / calls);
  return device.Synchronize();
}

// Measures the contestants in turn, so that a slow phase of a shared machine affects all of them alike. The first batch
// is the warm-up.
absl::Status MeasureAll(Device& device, const Options& options, std::vector<Contestant>* contestants) {
  for (int batch = 0; batch <= options.batches; ++batch) {
    for (Contestant& contestant : *contestants) {
      if (absl::Status status = MeasureBatch(device, options.batch, &contestant); !status.ok()) return status;
      if (batch == 0) contestant.call_us.clear();
    }
  }
  return absl::OkStatus();
}

void Print(const Device& device, const std::vector<Contestant>& contestants) {
  std::printf("%s (%s)\n", device.id().c_str(), device.properties().name.c_str());
  const double bare_us = bench::Median(contestants[0].call_us);
  for (const Contestant& contestant : contestants) {
    const double call_us = bench::Median(contestant.call_us);
    std::printf("%-7s %8.3f us   %.2f of the bare launch\n", contestant.name.c_str(), call_us, call_us / bare_us);
  }
}

// Returns a function that launches the code of `bound` directly, with arguments that are prepared in advance.
absl::StatusOr<std::function<absl::Status()>> BareLaunch(const BoundKernel& bound, const Arguments& arguments,
                                                         const Tensor& output) {
  absl::StatusOr<codegen::GeneratedKernel> generated = bound.Generate(bound.config_space().Default());
  if (!generated.ok()) return generated.status();
  runtime::CompileCache cache;
  auto loaded = cache.Get(*bound.device(), generated->source, generated->function);
  if (!loaded.ok()) return loaded.status();
  std::vector<device::LaunchArgument> launch_arguments;
  const Tensor* tensors[] = {arguments[0].As<Tensor>(), arguments[1].As<Tensor>(), &output};
  for (const codegen::Parameter& parameter : generated->parameters) {
    switch (parameter.kind) {
      case codegen::Parameter::Kind::kTensor:
        launch_arguments.emplace_back(tensors[parameter.index]->buffer.get());
        break;
      case codegen::Parameter::Kind::kScalar:
        launch_arguments.emplace_back(static_cast<float>(arguments[2].number()));
        break;
      case codegen::Parameter::Kind::kSize:
        launch_arguments.emplace_back(kElements);
        break;
      case codegen::Parameter::Kind::kStride:
        launch_arguments.emplace_back(int64_t{1});
        break;
    }
  }
  const device::LaunchShape shape{.grid = generated->GridSize(bound.ir().tensors),
                                  .threads = generated->threads,
                                  .shared_bytes = generated->shared_bytes};
  return [loaded = *loaded, shape, launch_arguments] {
    const absl::MutexLock lock(&loaded->mutex);
    return loaded->function->Launch(shape, launch_arguments);
  };
}

absl::Status Run(const Options& options) {
  absl::StatusOr<std::shared_ptr<Device>> device = device::OpenDevice(options.device);
  if (!device.ok()) return device.status();
  absl::StatusOr<std::unique_ptr<Kernel>> kernel = Kernel::Create(Spec(options.symbolic));
  if (!kernel.ok()) return kernel.status();
  ir::HostArray ones = ir::HostArray::Dense(device::DType::kF32, {kElements});
  ones.SetRowMajor(std::vector<double>(kElements, 1.0));
  absl::StatusOr<Tensor> x = ToDevice(*device, ones);
  absl::StatusOr<Tensor> y = ToDevice(*device, ones);
  if (!x.ok() || !y.ok()) return x.ok() ? y.status() : x.status();
  const Arguments arguments = {*x, *y, 2.0};
  absl::StatusOr<std::shared_ptr<BoundKernel>> bound = (*kernel)->Bind(arguments);
  if (!bound.ok()) return bound.status();
  absl::StatusOr<std::vector<Tensor>> outputs = (*bound)->AllocateOutputs(arguments);
  if (!outputs.ok()) return outputs.status();
  absl::StatusOr<std::function<absl::Status()>> bare = BareLaunch(**bound, arguments, outputs->front());
  if (!bare.ok()) return bare.status();

  std::vector<Contestant> contestants = {
      {"bare", *bare, {}},
      {"bound", [&] { return (*bound)->RunInto(arguments, *outputs); }, {}},
      {"kernel", [&] { return (*kernel)->RunInto(arguments, *outputs); }, {}},
  };
  if (absl::Status status = MeasureAll(**device, options, &contestants); !status.ok()) return status;
  Print(**device, contestants);
  return absl::OkStatus();
}

void AddFlags(CLI::App& app, Options& options) {
  app.add_option("--device", options.device, "cuda:0, opencl:0")->capture_default_str();
  app.add_option("--batch", options.batch, "Calls between two synchronisations")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  app.add_option("--batches", options.batches, "Batches of each call")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_flag("--symbolic", options.symbolic, "Pass sizes as arguments of the code (static_shapes off)");
}

}  // namespace
}  // namespace telemetry::worker

int main(int argc, char** argv) {
  return telemetry::bench::BenchMain(argc, argv, "bench-bound-call",
                                     "Measures the overhead of a kernel call over its launch",
                                     telemetry::worker::AddFlags, telemetry::worker::Run);
}
