#include "tests/worker/device/device_fixture.h"

#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "worker/device/open_device.h"

namespace telemetry::worker::device {
namespace {

constexpr char kCudaWords[] = R"(
#define KERNEL extern "C" __global__ void
#define GLOBAL
#define BLOCK ((int)blockIdx.x)
#define THREAD ((int)threadIdx.x)
#define THREADS ((int)blockDim.x)
#define SYNC __syncthreads()
)";

constexpr char kOpenClWords[] = R"(
#define KERNEL __kernel void
#define GLOBAL __global
#define BLOCK ((int)get_group_id(0))
#define THREAD ((int)get_local_id(0))
#define THREADS ((int)get_local_size(0))
#define SYNC barrier(CLK_LOCAL_MEM_FENCE)
)";

}  // namespace

DeviceTest::DeviceTest() : device_(Open()) {}

std::shared_ptr<Device> DeviceTest::Open() const {
  const char* id = std::getenv("TELEMETRY_TEST_DEVICE");
  absl::StatusOr<std::shared_ptr<Device>> device = OpenDevice(id == nullptr ? "opencl:0" : id);
  // No test can run without a device.
  if (!device.ok()) throw std::runtime_error(std::string(device.status().message()));
  return *std::move(device);
}

std::string DeviceTest::InDialect(const Device& device, const std::string& body) {
  return (device.properties().dialect == Dialect::kCuda ? kCudaWords : kOpenClWords) + body;
}

std::unique_ptr<Function> DeviceTest::KernelOn(Device* device, const std::string& name, const std::string& body) {
  const absl::StatusOr<CompiledCode> code = device->Compile(InDialect(*device, body));
  EXPECT_TRUE(code.ok()) << code.status();
  absl::StatusOr<std::unique_ptr<Module>> module = device->Load(code.value());
  EXPECT_TRUE(module.ok()) << module.status();
  absl::StatusOr<std::unique_ptr<Function>> function = module.value()->GetFunction(name);
  EXPECT_TRUE(function.ok()) << function.status();
  return *std::move(function);
}

std::unique_ptr<Buffer> DeviceTest::BufferOn(Device* device, const std::vector<float>& values) {
  absl::StatusOr<std::unique_ptr<Buffer>> buffer = device->Allocate(values.size() * sizeof(float));
  EXPECT_TRUE(buffer.ok()) << buffer.status();
  EXPECT_EQ(device->Upload(buffer.value().get(), 0, AsBytes(values)), absl::OkStatus());
  return *std::move(buffer);
}

std::vector<float> DeviceTest::ValuesOn(Device* device, const Buffer& buffer) {
  std::vector<float> values(buffer.size_bytes() / sizeof(float));
  EXPECT_EQ(device->Download(&buffer, 0, AsWritableBytes(&values)), absl::OkStatus());
  return values;
}

std::string DeviceTest::SharedParameter() const {
  return device_->properties().dialect == Dialect::kCuda ? "" : ", __local float* shared";
}

std::string DeviceTest::SharedDeclaration() const {
  return device_->properties().dialect == Dialect::kCuda ? "extern __shared__ float shared[];" : "";
}

}  // namespace telemetry::worker::device
