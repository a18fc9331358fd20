#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "worker/device/device.h"
#include "worker/kernel/tensor.h"

namespace telemetry::worker {

// A device in memory that compiles anything, counts what it is asked, and has a clock of its own: a launch takes as
// long as the test says of its source. Thread-safe.
class FakeDevice : public Device {
 public:
  struct Behaviour {
    Dialect dialect = Dialect::kOpenCl;
    int ordinal = 0;
    // Milliseconds of a launch of that source.
    std::function<double(const std::string& source)> launch_ms = [](const std::string&) { return 1.0; };
    // What Compile answers for it.
    std::function<absl::Status(const std::string& source)> compile = [](const std::string&) {
      return absl::OkStatus();
    };
  };

  struct LaunchRecord {
    std::string source;
    LaunchShape shape;
    std::vector<LaunchArgument> arguments;
  };

  explicit FakeDevice(Behaviour behaviour);
  FakeDevice() : FakeDevice(Behaviour()) {}

  const DeviceProperties& properties() const override { return properties_; }
  std::string id() const override;
  absl::StatusOr<std::unique_ptr<Buffer>> Allocate(size_t size_bytes) override;
  absl::StatusOr<std::unique_ptr<Buffer>> View(const Buffer* whole, size_t offset_bytes, size_t size_bytes) override;
  absl::Status Upload(Buffer* to, size_t offset_bytes, absl::Span<const std::byte> from) override;
  absl::Status Download(const Buffer* from, size_t offset_bytes, absl::Span<std::byte> to) override;
  absl::Status Fill(Buffer* buffer, uint8_t value) override;
  absl::Status Copy(Buffer* to, const Buffer* from, size_t size_bytes) override;
  absl::Status Multiply(const MatrixProduct& /*product*/) override { return absl::UnavailableError("fake"); }
  absl::StatusOr<CompiledCode> Compile(const std::string& source) override;
  absl::StatusOr<std::unique_ptr<Module>> Load(const CompiledCode& code) override;
  absl::StatusOr<std::unique_ptr<Event>> Record() override;
  absl::StatusOr<double> ElapsedMs(const Event& begin, const Event& end) override;
  absl::Status Synchronize() override { return absl::OkStatus(); }

  // How often each source was compiled.
  std::map<std::string, int> compiles() const;
  int compile_count() const;
  std::vector<LaunchRecord> launches() const;

  void OnLaunch(LaunchRecord record);

 private:
  DeviceProperties properties_;
  Behaviour behaviour_;
  mutable absl::Mutex mutex_;
  double clock_ms_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<std::string, int> compiles_ ABSL_GUARDED_BY(mutex_);
  std::vector<LaunchRecord> launches_ ABSL_GUARDED_BY(mutex_);
};

// A dense tensor of zeros on the device.
Tensor TensorOn(const std::shared_ptr<Device>& device, const std::vector<int64_t>& sizes, DType dtype = DType::kF32);
// Of a memory that is large enough for the strides.
Tensor StridedOn(const std::shared_ptr<Device>& device, const std::vector<int64_t>& sizes,
                 const std::vector<int64_t>& strides, DType dtype = DType::kF32);

}  // namespace telemetry::worker
