#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "worker/device/device.h"

namespace telemetry::worker {

// Counts of the calls of a device.
struct DeviceCalls {
  int launches = 0;
  int copies = 0;  // uploads, downloads, fills, copies on the device
  int allocations = 0;
  int waits = 0;
  friend bool operator==(const DeviceCalls&, const DeviceCalls&) = default;
};

// A device that counts calls and forwards them to another device.
class CountingDevice final : public device::Device {
 public:
  explicit CountingDevice(std::shared_ptr<device::Device> device) : device_(std::move(device)) {}

  const DeviceCalls& calls() const { return *calls_; }

  const device::DeviceProperties& properties() const override { return device_->properties(); }
  std::string id() const override { return device_->id(); }
  absl::StatusOr<std::unique_ptr<device::Buffer>> Allocate(size_t size_bytes) override {
    ++calls_->allocations;
    return device_->Allocate(size_bytes);
  }
  absl::StatusOr<std::unique_ptr<device::Buffer>> View(const device::Buffer* whole, size_t offset,
                                                       size_t size) override {
    return device_->View(whole, offset, size);
  }
  absl::Status Upload(device::Buffer* to, size_t offset, absl::Span<const std::byte> from) override {
    ++calls_->copies;
    return device_->Upload(to, offset, from);
  }
  absl::Status Download(const device::Buffer* from, size_t offset, absl::Span<std::byte> to) override {
    ++calls_->copies;
    return device_->Download(from, offset, to);
  }
  absl::Status Fill(device::Buffer* buffer, uint8_t value) override {
    ++calls_->copies;
    return device_->Fill(buffer, value);
  }
  absl::Status Copy(device::Buffer* to, const device::Buffer* from, size_t size_bytes) override {
    ++calls_->copies;
    return device_->Copy(to, from, size_bytes);
  }
  absl::Status Multiply(const device::MatrixProduct& product) override {
    ++calls_->launches;
    return device_->Multiply(product);
  }
  absl::StatusOr<device::CompiledCode> Compile(const std::string& source) override { return device_->Compile(source); }
  absl::StatusOr<std::unique_ptr<device::Module>> Load(const device::CompiledCode& code) override {
    absl::StatusOr<std::unique_ptr<device::Module>> module = device_->Load(code);
    if (!module.ok()) return module.status();
    return std::make_unique<CountingModule>(*std::move(module), calls_);
  }
  absl::StatusOr<std::unique_ptr<device::Event>> Record() override { return device_->Record(); }
  absl::StatusOr<double> ElapsedMs(const device::Event& begin, const device::Event& end) override {
    return device_->ElapsedMs(begin, end);
  }
  absl::Status Synchronize() override {
    ++calls_->waits;
    return device_->Synchronize();
  }

 private:
  using SharedCalls = std::shared_ptr<DeviceCalls>;

  class CountingFunction final : public device::Function {
   public:
    CountingFunction(std::unique_ptr<device::Function> function, SharedCalls calls)
        : function_(std::move(function)), calls_(std::move(calls)) {}
    device::FunctionAttributes attributes() const override { return function_->attributes(); }
    absl::Status Launch(const device::LaunchShape& shape, absl::Span<const device::LaunchArgument> arguments) override {
      ++calls_->launches;
      return function_->Launch(shape, arguments);
    }
    int BlocksPerUnit(const device::LaunchShape& shape) const override { return function_->BlocksPerUnit(shape); }

   private:
    const std::unique_ptr<device::Function> function_;
    const SharedCalls calls_;
  };

  class CountingModule final : public device::Module {
   public:
    CountingModule(std::unique_ptr<device::Module> module, SharedCalls calls)
        : module_(std::move(module)), calls_(std::move(calls)) {}
    absl::StatusOr<std::unique_ptr<device::Function>> GetFunction(const std::string& name) override {
      absl::StatusOr<std::unique_ptr<device::Function>> function = module_->GetFunction(name);
      if (!function.ok()) return function.status();
      return std::make_unique<CountingFunction>(*std::move(function), calls_);
    }

   private:
    const std::unique_ptr<device::Module> module_;
    const SharedCalls calls_;
  };

  const std::shared_ptr<device::Device> device_;
  const SharedCalls calls_ = std::make_shared<DeviceCalls>();
};

}  // namespace telemetry::worker
