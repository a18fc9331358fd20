#include "tests/worker/kernels/kernel_runner.h"

#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "worker/device/open_device.h"
#include "worker/kernels/kernel_spec.h"

namespace telemetry::worker::kernels {
namespace {

using device::Device;
using runtime::Kernel;
using runtime::Settings;
using runtime::Tensor;

std::unique_ptr<Kernel> Make(const LibraryKernel& library_kernel, const Settings& settings) {
  runtime::KernelSpec spec = MakeKernelSpec(library_kernel);
  spec.settings = settings;
  absl::StatusOr<std::unique_ptr<Kernel>> kernel = Kernel::Create(std::move(spec));
  if (kernel.ok()) return *std::move(kernel);
  std::fprintf(stderr, "%s\n", kernel.status().ToString().c_str());
  std::abort();
}

}  // namespace

std::shared_ptr<Device> TestDevice() {
  static const auto* const device = [] {
    const char* id = std::getenv("TELEMETRY_TEST_DEVICE");
    absl::StatusOr<std::shared_ptr<Device>> opened = device::OpenDevice(id == nullptr ? "opencl:0" : id);
    if (opened.ok()) return new std::shared_ptr<Device>(*std::move(opened));
    std::fprintf(stderr, "%s\n", opened.status().ToString().c_str());
    std::abort();
  }();
  return *device;
}

bool AllConfigs() { return std::getenv("TELEMETRY_ALL_CONFIGS") != nullptr; }

KernelRunner::KernelRunner(const LibraryKernel& kernel, Settings settings)
    : kernel_(kernel), made_(Make(kernel, settings)) {}

absl::Status KernelRunner::Bind(const Case& made) {
  absl::StatusOr<runtime::Arguments> arguments = ArgumentsOn(TestDevice(), kernel_, made);
  if (!arguments.ok()) return arguments.status();
  arguments_ = *std::move(arguments);
  absl::StatusOr<std::shared_ptr<runtime::BoundKernel>> bound = made_->Bind(arguments_);
  if (!bound.ok()) return bound.status();
  bound_ = *std::move(bound);
  return absl::OkStatus();
}

absl::StatusOr<Outputs> KernelRunner::Launch(const codegen::Config& config) {
  absl::StatusOr<std::shared_ptr<runtime::CompiledKernel>> compiled = bound_->CompileConfig(config);
  if (!compiled.ok()) return compiled.status();
  absl::StatusOr<std::vector<Tensor>> tensors = bound_->AllocateOutputs(arguments_);
  if (!tensors.ok()) return tensors.status();
  for (const Tensor& tensor : *tensors) {
    if (absl::Status status = tensor.device->Fill(tensor.buffer.get(), 0xFF); !status.ok()) return status;
  }
  if (absl::Status status = bound_->Launch(**compiled, arguments_, *tensors); !status.ok()) return status;
  if (absl::Status status = TestDevice()->Synchronize(); !status.ok()) return status;
  Outputs outputs;
  size_t next = 0;
  for (const ir::HostTensor& tensor : bound_->ir().tensors) {
    if (!tensor.is_output) continue;
    absl::StatusOr<ir::HostArray> array = ToHost((*tensors)[next++]);
    if (!array.ok()) return array.status();
    outputs.emplace(tensor.name, *std::move(array));
  }
  return outputs;
}

absl::StatusOr<Outputs> KernelRunner::Run(const Case& made) {
  if (absl::Status status = Bind(made); !status.ok()) return status;
  return Launch(bound_->config_space().Default());
}

}  // namespace telemetry::worker::kernels
