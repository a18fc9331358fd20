#include "worker/runtime/tensor.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "proto/base/status_macros.h"
#include "proto/record/strings.h"

namespace telemetry::worker::runtime {

using device::Device;
using device::Dialect;
using record::Cat;

namespace {

// Returns a host array with this tensor's layout and without elements.
ir::HostArray MakeLayoutArray(const Tensor& tensor) {
  ir::HostArray array;
  array.dtype = tensor.dtype;
  array.sizes.assign(tensor.sizes.begin(), tensor.sizes.end());
  array.strides.assign(tensor.strides.begin(), tensor.strides.end());
  return array;
}

Tensor LayoutOf(const ir::HostArray& array) {
  return {.dtype = array.dtype,
          .sizes = Dimensions(array.sizes.begin(), array.sizes.end()),
          .strides = Dimensions(array.strides.begin(), array.strides.end())};
}

// Devices refuse it like the memory of another device.
class NoMemory final : public device::Buffer {
 public:
  explicit NoMemory(size_t size_bytes) : size_bytes_(size_bytes) {}
  size_t size_bytes() const override { return size_bytes_; }
  uint64_t handle() const override { return 0; }

 private:
  const size_t size_bytes_;
};

}  // namespace

Tensor Tensor::OnHost(ir::HostArray array) {
  Tensor tensor{.dtype = array.dtype,
                .sizes = Dimensions(array.sizes.begin(), array.sizes.end()),
                .strides = Dimensions(array.strides.begin(), array.strides.end())};
  tensor.host = std::make_shared<ir::HostArray>(std::move(array));
  return tensor;
}

int64_t Tensor::element_count() const {
  int64_t count = 1;
  for (const int64_t size : sizes) count *= size;
  return count;
}

int64_t Tensor::span() const {
  int64_t last = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) return 0;
    last += (sizes[i] - 1) * strides[i];
  }
  return last + 1;
}

std::string_view Tensor::device_type() const {
  return device == nullptr ? "cpu" : DeviceTypeName(device->properties().dialect);
}

std::string Tensor::device_id() const { return device == nullptr ? "cpu" : device->id(); }

std::string Tensor::ToString() const {
  return Cat("Tensor(", ShortName(dtype), ", [", absl::StrJoin(sizes, ", "), "], strides [",
             absl::StrJoin(strides, ", "), "], ", device_id(), ")");
}

Dimensions DenseStrides(absl::Span<const int64_t> sizes) {
  Dimensions strides(sizes.size());
  int64_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = stride;
    const int64_t size = std::max<int64_t>(sizes[i], 1);
    if (__builtin_mul_overflow(stride, size, &stride)) stride = std::numeric_limits<int64_t>::max();
  }
  return strides;
}

std::string_view DeviceTypeName(Dialect dialect) { return dialect == Dialect::kCuda ? "cuda" : "opencl"; }

absl::StatusOr<Tensor> AllocateTensor(std::shared_ptr<Device> device, device::DType dtype,
                                      absl::Span<const int64_t> sizes) {
  Tensor tensor{.dtype = dtype, .sizes = Dimensions(sizes.begin(), sizes.end()), .strides = DenseStrides(sizes)};
  ASSIGN_OR_RETURN(auto buffer, device->Allocate(static_cast<size_t>(tensor.element_count()) * SizeOf(dtype)));
  tensor.buffer = std::move(buffer);
  tensor.device = std::move(device);
  return tensor;
}

Tensor DescribeOnDevice(std::shared_ptr<Device> device, const ir::HostArray& array) {
  Tensor tensor = LayoutOf(array);
  tensor.buffer = std::make_shared<NoMemory>(static_cast<size_t>(tensor.span()) * SizeOf(tensor.dtype));
  tensor.device = std::move(device);
  return tensor;
}

absl::StatusOr<Tensor> ToDevice(std::shared_ptr<Device> device, const ir::HostArray& array) {
  const std::vector<std::byte> bytes = ir::ToBytes(array);
  ASSIGN_OR_RETURN(auto buffer, device->Allocate(bytes.size()));
  if (!bytes.empty()) {
    RETURN_IF_ERROR(device->Upload(buffer.get(), 0, bytes));
  }
  Tensor tensor = LayoutOf(array);
  tensor.buffer = std::move(buffer);
  tensor.device = std::move(device);
  return tensor;
}

absl::StatusOr<std::vector<std::byte>> BytesOf(const Tensor& tensor) {
  if (tensor.host != nullptr) return ir::ToBytes(*tensor.host);
  if (tensor.device == nullptr || tensor.buffer == nullptr) {
    return absl::FailedPreconditionError(Cat("no memory for ", tensor.ToString()));
  }
  std::vector<std::byte> bytes(static_cast<size_t>(tensor.span()) * SizeOf(tensor.dtype));
  if (!bytes.empty()) {
    RETURN_IF_ERROR(tensor.device->Download(tensor.buffer.get(), 0, absl::MakeSpan(bytes)));
  }
  return bytes;
}

absl::StatusOr<ir::HostArray> ToHost(const Tensor& tensor) {
  if (tensor.host != nullptr) return *tensor.host;
  ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, BytesOf(tensor));
  ir::HostArray array = MakeLayoutArray(tensor);
  array.data.resize(static_cast<size_t>(tensor.span()));
  RETURN_IF_ERROR(ir::FromBytes(bytes, &array));
  return array;
}

absl::Status CheckTensor(const Tensor& tensor) {
  const auto refuse = [&tensor](std::string_view why) {
    return absl::InvalidArgumentError(Cat(tensor.ToString(), ": ", why));
  };
  const auto negative = [](int64_t value) { return value < 0; };
  if (tensor.sizes.size() != tensor.strides.size())
    return refuse("the number of strides differs from the number of sizes");
  if (std::any_of(tensor.sizes.begin(), tensor.sizes.end(), negative)) return refuse("a negative size");
  if (std::any_of(tensor.strides.begin(), tensor.strides.end(), negative)) return refuse("a negative stride");
  if ((tensor.device == nullptr) != (tensor.buffer == nullptr))
    return refuse("a device without memory, or the reverse");
  if (tensor.device == nullptr && tensor.host == nullptr) return refuse("it has no memory");
  const auto needed = static_cast<uint64_t>(tensor.span());
  const uint64_t there =
      tensor.buffer == nullptr ? tensor.host->data.size() : tensor.buffer->size_bytes() / SizeOf(tensor.dtype);
  if (needed > there) return refuse(Cat("needs ", needed, " elements and has ", there));
  return absl::OkStatus();
}

}  // namespace telemetry::worker::runtime
