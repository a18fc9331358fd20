#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "worker/device/device.h"
#include "worker/runtime/tensor.h"

namespace telemetry::worker::runtime {

// A device in memory that compiles any source and records the calls. Its clock is simulated: the test defines the
// duration of a launch by its source. Thread-safe.
class FakeDevice : public device::Device {
 public:
  struct Behaviour {
    device::Dialect dialect = device::Dialect::kOpenCl;
    int ordinal = 0;
    // Returns the milliseconds of a launch of this source.
    std::function<double(const std::string& source)> launch_ms = [](const std::string&) { return 1.0; };
    // The result that Compile() returns for this source.
    std::function<absl::Status(const std::string& source)> compile = [](const std::string&) {
      return absl::OkStatus();
    };
  };

  struct LaunchRecord {
    std::string source;
    device::LaunchShape shape;
    std::vector<device::LaunchArgument> arguments;
  };

  explicit FakeDevice(Behaviour behaviour);
  FakeDevice() : FakeDevice(Behaviour()) {}

  const device::DeviceProperties& properties() const override { return properties_; }
  std::string id() const override;
  absl::StatusOr<std::unique_ptr<device::Buffer>> Allocate(size_t size_bytes) override;
  absl::StatusOr<std::unique_ptr<device::Buffer>> View(const device::Buffer* whole, size_t offset_bytes,
                                                       size_t size_bytes) override;
  absl::Status Upload(device::Buffer* to, size_t offset_bytes, absl::Span<const std::byte> from) override;
  absl::Status Download(const device::Buffer* from, size_t offset_bytes, absl::Span<std::byte> to) override;
  absl::Status Fill(device::Buffer* buffer, uint8_t value) override;
  absl::Status Copy(device::Buffer* to, const device::Buffer* from, size_t size_bytes) override;
  absl::Status Multiply(const device::MatrixProduct& /*product*/) override { return absl::UnavailableError("fake"); }
  absl::StatusOr<device::CompiledCode> Compile(const std::string& source) override;
  absl::StatusOr<std::unique_ptr<device::Module>> Load(const device::CompiledCode& code) override;
  absl::StatusOr<std::unique_ptr<device::Event>> Record() override;
  absl::StatusOr<double> ElapsedMs(const device::Event& begin, const device::Event& end) override;
  absl::Status Synchronize() override { return absl::OkStatus(); }

  // Returns the number of compilations by source.
  std::map<std::string, int> compiles() const;
  int compile_count() const;
  std::vector<LaunchRecord> launches() const;

  void OnLaunch(LaunchRecord record);

 private:
  device::DeviceProperties properties_;
  Behaviour behaviour_;
  mutable absl::Mutex mutex_;
  double clock_ms_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<std::string, int> compiles_ ABSL_GUARDED_BY(mutex_);
  std::vector<LaunchRecord> launches_ ABSL_GUARDED_BY(mutex_);
};

// Returns a dense tensor on the device whose memory is zero.
Tensor TensorOn(const std::shared_ptr<device::Device>& device, const std::vector<int64_t>& sizes,
                device::DType dtype = device::DType::kF32);
// Returns a tensor with these strides and enough memory for them.
Tensor StridedOn(const std::shared_ptr<device::Device>& device, const std::vector<int64_t>& sizes,
                 const std::vector<int64_t>& strides, device::DType dtype = device::DType::kF32);

}  // namespace telemetry::worker::runtime
