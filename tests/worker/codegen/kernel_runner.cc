#include "tests/worker/codegen/kernel_runner.h"

#include <cstdlib>
#include <utility>
#include <vector>

#include "proto/record/strings.h"
#include "worker/codegen/emit/generate.h"
#include "worker/device/compile_cuda.h"
#include "worker/device/open_device.h"

namespace telemetry::worker::codegen {
namespace {

using device::CompiledCode;
using device::Device;
using device::LaunchArgument;
using record::Cat;

// The arguments of one launch: uploads tensors, creates missing outputs, and downloads the results.
class Launch {
 public:
  Launch(const ir::DeviceIr& ir, Device* device, ir::reference::Tensors* tensors)
      : ir_(ir), device_(*device), tensors_(*tensors) {}

  absl::Status Upload() {
    for (size_t i = 0; i < ir_.tensors.size(); ++i) {
      if (i >= tensors_.size()) {
        tensors_.push_back(
            ir::HostArray::Dense(ir_.tensors[i].dtype, ir::reference::ActualSizes(ir_, static_cast<int>(i), tensors_)));
      }
      const std::vector<std::byte> bytes = ir::ToBytes(tensors_[i]);
      auto buffer = device_.Allocate(bytes.size());
      if (!buffer.ok()) return buffer.status();
      if (absl::Status status = device_.Upload(buffer->get(), 0, bytes); !status.ok()) return status;
      buffers_.push_back(*std::move(buffer));
    }
    return absl::OkStatus();
  }

  std::vector<LaunchArgument> Arguments(const GeneratedKernel& kernel,
                                        const std::map<std::string, double>& scalars) const {
    std::vector<LaunchArgument> arguments;
    for (const Parameter& parameter : kernel.parameters) {
      const auto index = static_cast<size_t>(parameter.index);
      const auto dimension = static_cast<size_t>(parameter.dimension);
      switch (parameter.kind) {
        case Parameter::Kind::kTensor:
          arguments.emplace_back(buffers_[index].get());
          break;
        case Parameter::Kind::kSize:
          arguments.emplace_back(tensors_[index].sizes[dimension]);
          break;
        case Parameter::Kind::kStride:
          arguments.emplace_back(tensors_[index].strides[dimension]);
          break;
        case Parameter::Kind::kScalar: {
          const double value = scalars.at(ir_.scalars[index].name);
          if (IsFloat(ir_.scalars[index].dtype)) {
            arguments.emplace_back(static_cast<float>(value));
          } else {
            arguments.emplace_back(static_cast<int32_t>(value));
          }
          break;
        }
      }
    }
    return arguments;
  }

  std::vector<ir::HostTensor> ActualTensors() const {
    std::vector<ir::HostTensor> actual = ir_.tensors;
    for (size_t i = 0; i < actual.size(); ++i) {
      for (size_t d = 0; d < actual[i].sizes.size(); ++d) actual[i].sizes[d].value = tensors_[i].sizes[d];
    }
    return actual;
  }

  absl::Status Download() {
    for (size_t i = 0; i < tensors_.size(); ++i) {
      std::vector<std::byte> bytes = ir::ToBytes(tensors_[i]);
      if (absl::Status status = device_.Download(buffers_[i].get(), 0, absl::MakeSpan(bytes)); !status.ok())
        return status;
      if (absl::Status status = ir::FromBytes(bytes, &tensors_[i]); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

 private:
  const ir::DeviceIr& ir_;
  Device& device_;
  ir::reference::Tensors& tensors_;
  std::vector<std::unique_ptr<device::Buffer>> buffers_;
};

}  // namespace

std::shared_ptr<Device> TestDevice() {
  const char* named = std::getenv("TELEMETRY_TEST_DEVICE");
  absl::StatusOr<std::shared_ptr<Device>> device = device::OpenDevice(named == nullptr ? "opencl:0" : named);
  if (!device.ok()) {
    std::fprintf(stderr, "%s\n", device.status().ToString().c_str());
    std::abort();
  }
  return *std::move(device);
}

absl::Status RunKernel(const ir::DeviceIr& ir, const Config& config, const std::map<std::string, double>& scalars,
                       Device* device, ir::reference::Tensors* tensors, const GenerateOptions& options) {
  const absl::StatusOr<GeneratedKernel> kernel = emit::Generate(ir, config, Target::For(device->properties()), options);
  if (!kernel.ok()) return kernel.status();
  const absl::StatusOr<CompiledCode> code = device->Compile(kernel->source);
  if (!code.ok()) return absl::InternalError(Cat(code.status().ToString(), "\n", kernel->source));
  const auto module = device->Load(*code);
  if (!module.ok()) return module.status();
  const auto function = (*module)->GetFunction(kernel->function);
  if (!function.ok()) return function.status();

  Launch launch(ir, device, tensors);
  if (absl::Status status = launch.Upload(); !status.ok()) return status;
  const device::LaunchShape shape = {.grid = kernel->GridSize(launch.ActualTensors()),
                                     .threads = kernel->threads,
                                     .shared_bytes = kernel->shared_bytes};
  const std::vector<LaunchArgument> arguments = launch.Arguments(*kernel, scalars);
  if (absl::Status status = (*function)->Launch(shape, arguments); !status.ok()) return status;
  if (absl::Status status = device->Synchronize(); !status.ok()) return status;
  return launch.Download();
}

absl::Status CompileForCuda(const ir::DeviceIr& ir, const Config& config, int sm, const GenerateOptions& options) {
  const Target target = {
      .dialect = device::Dialect::kCuda, .sm = sm, .compute_units = 132, .shared_bytes_per_block = 99 << 10};
  const absl::StatusOr<GeneratedKernel> kernel = emit::Generate(ir, config, target, options);
  if (!kernel.ok()) return kernel.status();
  const absl::StatusOr<CompiledCode> code = device::CompileCuda(kernel->source, Cat("sm_", sm));
  if (code.ok() || absl::IsUnavailable(code.status())) return code.status();
  return absl::InternalError(Cat(code.status().ToString(), "\n", kernel->source));
}

}  // namespace telemetry::worker::codegen
