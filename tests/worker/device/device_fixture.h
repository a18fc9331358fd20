#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "worker/device/device.h"

namespace telemetry::worker::device {

// A fixture with the device in TELEMETRY_TEST_DEVICE ("opencl:0" if it is not set), opened again for each test. Kernels
// are written once, with macros that the fixture defines for both dialects: KERNEL, GLOBAL, BLOCK, THREAD, THREADS,
// SYNC.
class DeviceTest : public testing::Test {
 protected:
  DeviceTest();

  std::shared_ptr<Device> Open() const;
  // Returns `body` preceded by the macros of `device`'s dialect.
  static std::string InDialect(const Device& device, const std::string& body);

  std::unique_ptr<Function> Kernel(const std::string& name, const std::string& body) {
    return KernelOn(device_.get(), name, body);
  }
  static std::unique_ptr<Function> KernelOn(Device* device, const std::string& name, const std::string& body);

  std::unique_ptr<Buffer> MakeBuffer(const std::vector<float>& values) { return BufferOn(device_.get(), values); }
  static std::unique_ptr<Buffer> BufferOn(Device* device, const std::vector<float>& values);
  std::vector<float> Values(const Buffer& buffer) { return ValuesOn(device_.get(), buffer); }
  static std::vector<float> ValuesOn(Device* device, const Buffer& buffer);
  // Return the code that declares dynamic shared memory: a last parameter in OpenCL, a declaration in CUDA.
  std::string SharedParameter() const;
  std::string SharedDeclaration() const;

  std::shared_ptr<Device> device_;
};

inline absl::Span<const std::byte> AsBytes(const std::vector<float>& values) {
  return {reinterpret_cast<const std::byte*>(values.data()), values.size() * sizeof(float)};
}

inline absl::Span<std::byte> AsWritableBytes(std::vector<float>* values) {
  return {reinterpret_cast<std::byte*>(values->data()), values->size() * sizeof(float)};
}

}  // namespace telemetry::worker::device
