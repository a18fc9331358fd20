#include "tests/worker/runtime/fake_device.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace telemetry::worker::runtime {
namespace {

using device::Buffer;
using device::CompiledCode;
using device::Device;
using device::Dialect;
using device::DType;
using device::Event;
using device::Function;
using device::LaunchShape;
using device::Module;

class FakeBuffer : public Buffer {
 public:
  explicit FakeBuffer(size_t size_bytes) : bytes_(size_bytes) {}
  size_t size_bytes() const override { return bytes_.size(); }
  uint64_t handle() const override { return reinterpret_cast<uint64_t>(this); }
  std::byte* data() { return bytes_.data(); }
  const std::byte* data() const { return bytes_.data(); }

 private:
  std::vector<std::byte> bytes_;
};

class FakeEvent : public Event {
 public:
  explicit FakeEvent(double at_ms) : at_ms_(at_ms) {}
  double at_ms() const { return at_ms_; }

 private:
  double at_ms_;
};

class FakeFunction : public Function {
 public:
  FakeFunction(FakeDevice* device, std::string source) : device_(device), source_(std::move(source)) {}
  device::FunctionAttributes attributes() const override { return {.max_threads_per_block = 1024}; }
  absl::Status Launch(const LaunchShape& shape, absl::Span<const device::LaunchArgument> arguments) override {
    device_->OnLaunch({source_, shape, {arguments.begin(), arguments.end()}});
    return absl::OkStatus();
  }
  int BlocksPerUnit(const LaunchShape&) const override { return 0; }

 private:
  FakeDevice* device_;
  std::string source_;
};

class FakeModule : public Module {
 public:
  FakeModule(FakeDevice* device, std::string source) : device_(device), source_(std::move(source)) {}
  absl::StatusOr<std::unique_ptr<Function>> GetFunction(const std::string&) override {
    return std::make_unique<FakeFunction>(device_, source_);
  }

 private:
  FakeDevice* device_;
  std::string source_;
};

}  // namespace

FakeDevice::FakeDevice(Behaviour behaviour) : behaviour_(std::move(behaviour)) {
  properties_ = {.dialect = behaviour_.dialect,
                 .ordinal = behaviour_.ordinal,
                 .name = "fake",
                 .architecture = "sm_90",
                 .compute_units = 4,
                 .warp_size = behaviour_.dialect == Dialect::kCuda ? 32 : 1,
                 .max_threads_per_block = 1024,
                 .shared_bytes_per_block = 200 << 10};
}

std::string FakeDevice::id() const {
  return absl::StrCat(behaviour_.dialect == Dialect::kCuda ? "cuda:" : "opencl:", behaviour_.ordinal);
}

absl::StatusOr<std::unique_ptr<Buffer>> FakeDevice::Allocate(size_t size_bytes) {
  return std::make_unique<FakeBuffer>(size_bytes);
}

absl::StatusOr<std::unique_ptr<Buffer>> FakeDevice::View(const Buffer*, size_t, size_t) {
  return absl::UnimplementedError("kernels need no views");
}

absl::Status FakeDevice::Upload(Buffer* to, size_t offset_bytes, absl::Span<const std::byte> from) {
  std::memcpy(static_cast<FakeBuffer*>(to)->data() + offset_bytes, from.data(), from.size());
  return absl::OkStatus();
}

absl::Status FakeDevice::Download(const Buffer* from, size_t offset_bytes, absl::Span<std::byte> to) {
  std::memcpy(to.data(), static_cast<const FakeBuffer*>(from)->data() + offset_bytes, to.size());
  return absl::OkStatus();
}

absl::Status FakeDevice::Fill(Buffer* buffer, uint8_t value) {
  std::memset(static_cast<FakeBuffer*>(buffer)->data(), value, buffer->size_bytes());
  return absl::OkStatus();
}

absl::Status FakeDevice::Copy(Buffer* to, const Buffer* from, size_t size_bytes) {
  std::memcpy(static_cast<FakeBuffer*>(to)->data(), static_cast<const FakeBuffer*>(from)->data(), size_bytes);
  return absl::OkStatus();
}

absl::StatusOr<CompiledCode> FakeDevice::Compile(const std::string& source) {
  {
    const absl::MutexLock lock(&mutex_);
    ++compiles_[source];
  }
  if (absl::Status status = behaviour_.compile(source); !status.ok()) return status;
  return CompiledCode{.binary = source};
}

absl::StatusOr<std::unique_ptr<Module>> FakeDevice::Load(const CompiledCode& code) {
  return std::make_unique<FakeModule>(this, code.binary);
}

absl::StatusOr<std::unique_ptr<Event>> FakeDevice::Record() {
  const absl::MutexLock lock(&mutex_);
  return std::make_unique<FakeEvent>(clock_ms_);
}

absl::StatusOr<double> FakeDevice::ElapsedMs(const Event& begin, const Event& end) {
  return static_cast<const FakeEvent&>(end).at_ms() - static_cast<const FakeEvent&>(begin).at_ms();
}

std::map<std::string, int> FakeDevice::compiles() const {
  const absl::MutexLock lock(&mutex_);
  return compiles_;
}

int FakeDevice::compile_count() const {
  int count = 0;
  for (const auto& [source, times] : compiles()) count += times;
  return count;
}

std::vector<FakeDevice::LaunchRecord> FakeDevice::launches() const {
  const absl::MutexLock lock(&mutex_);
  return launches_;
}

void FakeDevice::OnLaunch(LaunchRecord record) {
  const double took_ms = behaviour_.launch_ms(record.source);
  const absl::MutexLock lock(&mutex_);
  clock_ms_ += took_ms;
  launches_.push_back(std::move(record));
}

Tensor TensorOn(const std::shared_ptr<Device>& device, const std::vector<int64_t>& sizes, DType dtype) {
  return *AllocateTensor(device, dtype, sizes);
}

Tensor StridedOn(const std::shared_ptr<Device>& device, const std::vector<int64_t>& sizes,
                 const std::vector<int64_t>& strides, DType dtype) {
  Tensor tensor{.dtype = dtype,
                .sizes = Dimensions(sizes.begin(), sizes.end()),
                .strides = Dimensions(strides.begin(), strides.end()),
                .device = device};
  tensor.buffer = *device->Allocate(static_cast<size_t>(tensor.span()) * SizeOf(dtype));
  return tensor;
}

}  // namespace telemetry::worker::runtime
