#include "worker/runtime/program_tensor.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/device/interop.h"

namespace telemetry::worker::runtime {

using device::Device;
using device::Interop;
using record::Cat;

namespace {

constexpr int64_t kMostElements = int64_t{1} << 46;  // beyond every device's memory

// The addresses of a tensor's elements, from the first byte to behind the last.
struct AddressRange {
  uint64_t begin = 0;
  uint64_t end = 0;
};

// Sets the strides of dimensions with at most one element, which no access uses, to those of a dense tensor.
void SetUnusedStrides(Tensor* tensor) {
  const Dimensions dense = DenseStrides(tensor->sizes);
  for (size_t i = 0; i < tensor->sizes.size(); ++i) {
    if (tensor->sizes[i] <= 1) tensor->strides[i] = dense[i];
  }
}

// Returns nullopt if the elements do not fit the address space.
std::optional<size_t> SpanBytes(const Tensor& tensor) {
  int64_t last = 0;
  for (size_t i = 0; i < tensor.sizes.size(); ++i) {
    if (tensor.sizes[i] == 0) return 0;
    int64_t reach = 0;
    if (__builtin_mul_overflow(tensor.sizes[i] - 1, tensor.strides[i], &reach) ||
        __builtin_add_overflow(last, reach, &last) || last > kMostElements) {
      return std::nullopt;
    }
  }
  return static_cast<size_t>(last + 1) * SizeOf(tensor.dtype);
}

absl::StatusOr<AddressRange> RangeOf(const Tensor& tensor) {
  if (tensor.device == nullptr || tensor.buffer == nullptr) {
    return absl::InvalidArgumentError(Cat(tensor.ToString(), " has no memory on a device"));
  }
  ASSIGN_OR_RETURN(const Interop* const interop, InteropOf(*tensor.device));
  ASSIGN_OR_RETURN(const uint64_t address, interop->Address(*tensor.buffer));
  return AddressRange{.begin = address, .end = address + static_cast<uint64_t>(tensor.span()) * SizeOf(tensor.dtype)};
}

absl::Status Overlap(const Tensor& output, const Tensor& other, std::string_view what) {
  return absl::InvalidArgumentError(Cat("the output ", output.ToString(), " shares memory with ", what, " ",
                                        other.ToString(), "; give the output memory of its own"));
}

dlpack::DLDataType TypeOf(device::DType dtype) {
  const auto bits = static_cast<uint8_t>(8 * SizeOf(dtype));
  if (dtype == device::DType::kBF16) return {.code = dlpack::kDLBfloat, .bits = bits};
  if (dtype == device::DType::kBool) return {.code = dlpack::kDLBool, .bits = bits};
  if (IsFloat(dtype)) return {.code = dlpack::kDLFloat, .bits = bits};
  return {.code = IsUnsigned(dtype) ? dlpack::kDLUInt : dlpack::kDLInt, .bits = bits};
}

absl::StatusOr<device::DType> DTypeOf(const dlpack::DLDataType& type) {
  std::string names;
  for (const device::DType dtype : device::kAllDTypes) {
    const dlpack::DLDataType known = TypeOf(dtype);
    if (type.code == known.code && type.bits == known.bits && type.lanes == known.lanes) return dtype;
    names += Cat(names.empty() ? "" : ", ", ShortName(dtype));
  }
  return absl::InvalidArgumentError(Cat("elements of DLPack's type (code ", int{type.code}, ", ", int{type.bits},
                                        " bits, ", type.lanes, " lanes) are not supported; convert to one of ", names));
}

absl::Status CheckDevice(const Device& device, const Interop& interop, const dlpack::DLDevice& given) {
  const bool is_pinned = given.device_type == dlpack::kDLCUDAHost || given.device_type == dlpack::kDLCUDAManaged;
  if (interop.on_host()) {
    if (given.device_type == dlpack::kDLCPU) return absl::OkStatus();
  } else if (is_pinned || (given.device_type == dlpack::kDLCUDA && given.device_id == device.properties().ordinal)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(Cat("the tensor is on DLPack's device (type ", given.device_type, ", number ",
                                        given.device_id, "), but the kernel runs on ", device.id(),
                                        interop.on_host() ? ", which uses tensors of the host (type 1)" : ""));
}

absl::StatusOr<Tensor> ImportDlpack(std::shared_ptr<Device> device, const dlpack::DLTensor& given,
                                    std::shared_ptr<const void> owner) {
  ASSIGN_OR_RETURN(const Interop* const interop, InteropOf(*device));
  RETURN_IF_ERROR(CheckDevice(*device, *interop, given.device));
  ASSIGN_OR_RETURN(const device::DType dtype, DTypeOf(given.dtype));
  if (given.ndim < 0 || (given.ndim > 0 && given.shape == nullptr)) {
    return absl::InvalidArgumentError(Cat("the DLPack tensor has ", given.ndim, " dimensions without sizes"));
  }
  ProgramMemory memory{.address = reinterpret_cast<uint64_t>(given.data) + given.byte_offset,
                       .dtype = dtype,
                       .sizes = Dimensions(given.shape, given.shape + given.ndim),
                       .owner = std::move(owner)};
  if (given.strides != nullptr) memory.strides = Dimensions(given.strides, given.strides + given.ndim);
  return WrapProgramMemory(std::move(device), memory);
}

// Calls the deleter when the last reference is gone.
template <typename Managed>
std::shared_ptr<const void> TakeOver(Managed* managed) {
  return std::shared_ptr<Managed>(managed, [](Managed* self) {
    if (self->deleter != nullptr) self->deleter(self);
  });
}

// A tensor that another library holds.
template <typename Managed>
struct Exported {
  Managed managed;
  Tensor tensor;  // keeps the memory, the sizes and the strides
};

template <typename Managed>
absl::StatusOr<Managed*> Export(const Tensor& tensor) {
  if (tensor.device == nullptr || tensor.buffer == nullptr) {
    return absl::FailedPreconditionError(Cat(tensor.ToString(), " is not on a device, so DLPack cannot share it"));
  }
  ASSIGN_OR_RETURN(const Interop* const interop, InteropOf(*tensor.device));
  ASSIGN_OR_RETURN(const uint64_t address, interop->Address(*tensor.buffer));
  auto exported = std::make_unique<Exported<Managed>>();
  exported->tensor = tensor;
  exported->managed.manager_ctx = exported.get();
  exported->managed.deleter = [](Managed* self) { delete static_cast<Exported<Managed>*>(self->manager_ctx); };
  dlpack::DLTensor& shared = exported->managed.dl_tensor;
  shared.data = std::bit_cast<void*>(address);
  shared.device = {.device_type = interop->on_host() ? dlpack::kDLCPU : dlpack::kDLCUDA,
                   .device_id = interop->on_host() ? 0 : tensor.device->properties().ordinal};
  shared.ndim = static_cast<int32_t>(tensor.sizes.size());
  shared.dtype = TypeOf(tensor.dtype);
  shared.shape = exported->tensor.sizes.data();
  shared.strides = exported->tensor.strides.data();
  return &exported.release()->managed;
}

}  // namespace

absl::StatusOr<Tensor> WrapProgramMemory(std::shared_ptr<Device> device, const ProgramMemory& memory) {
  Tensor tensor{.dtype = memory.dtype, .sizes = memory.sizes, .strides = memory.strides};
  const auto refuse = [&](std::string_view why) {
    return absl::InvalidArgumentError(Cat(tensor.ToString(), ": ", why));
  };
  const auto negative = [](int64_t value) { return value < 0; };
  if (std::any_of(tensor.sizes.begin(), tensor.sizes.end(), negative)) return refuse("a negative size");
  if (tensor.strides.empty()) tensor.strides = DenseStrides(tensor.sizes);
  if (tensor.strides.size() != tensor.sizes.size()) {
    return refuse("the number of strides differs from the number of sizes");
  }
  SetUnusedStrides(&tensor);
  if (std::any_of(tensor.strides.begin(), tensor.strides.end(), negative)) {
    return refuse("a negative stride; pass a copy of the tensor");
  }
  if (memory.offset < 0) return refuse("a negative offset");
  const std::optional<size_t> bytes = SpanBytes(tensor);
  if (!bytes.has_value() || memory.offset > kMostElements) return refuse("the elements do not fit any memory");
  ASSIGN_OR_RETURN(Interop* const interop, InteropOf(*device));
  absl::StatusOr<std::unique_ptr<device::Buffer>> buffer =
      interop->Wrap(memory.address + static_cast<uint64_t>(memory.offset) * SizeOf(memory.dtype), *bytes, memory.owner);
  if (!buffer.ok()) {
    return absl::Status(buffer.status().code(), Cat(tensor.ToString(), ": ", buffer.status().message()));
  }
  tensor.buffer = *std::move(buffer);
  tensor.device = std::move(device);
  return tensor;
}

absl::StatusOr<Tensor> AllocateProgramTensor(std::shared_ptr<Device> device, device::DType dtype,
                                             absl::Span<const int64_t> sizes) {
  Tensor tensor{.dtype = dtype, .sizes = Dimensions(sizes.begin(), sizes.end()), .strides = DenseStrides(sizes)};
  ASSIGN_OR_RETURN(Interop* const interop, InteropOf(*device));
  ASSIGN_OR_RETURN(auto buffer, interop->AllocateAddressable(static_cast<size_t>(tensor.span()) * SizeOf(dtype)));
  tensor.buffer = std::move(buffer);
  tensor.device = std::move(device);
  return tensor;
}

absl::Status CheckNoOverlap(absl::Span<const Tensor* const> inputs, absl::Span<const Tensor> outputs) {
  const auto meet = [](const AddressRange& a, const AddressRange& b) { return a.begin < b.end && b.begin < a.end; };
  for (size_t i = 0; i < outputs.size(); ++i) {
    ASSIGN_OR_RETURN(const AddressRange output, RangeOf(outputs[i]));
    for (const Tensor* input : inputs) {
      ASSIGN_OR_RETURN(const AddressRange range, RangeOf(*input));
      if (meet(output, range)) return Overlap(outputs[i], *input, "the input");
    }
    for (size_t j = 0; j < i; ++j) {
      ASSIGN_OR_RETURN(const AddressRange range, RangeOf(outputs[j]));
      if (meet(output, range)) return Overlap(outputs[i], outputs[j], "the output");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Tensor> BorrowDlpack(std::shared_ptr<Device> device, const dlpack::DLTensor& tensor) {
  return ImportDlpack(std::move(device), tensor, nullptr);
}

absl::StatusOr<Tensor> FromDlpack(std::shared_ptr<Device> device, dlpack::DLManagedTensor* managed) {
  return ImportDlpack(std::move(device), managed->dl_tensor, TakeOver(managed));
}

absl::StatusOr<Tensor> FromDlpack(std::shared_ptr<Device> device, dlpack::DLManagedTensorVersioned* managed,
                                  Access access) {
  std::shared_ptr<const void> owner = TakeOver(managed);
  if (managed->version.major != dlpack::DLPACK_MAJOR_VERSION) {
    return absl::InvalidArgumentError(Cat("DLPack ", managed->version.major, ".", managed->version.minor,
                                          " is not supported; export with version 1"));
  }
  if (access == Access::kReadAndWrite && (managed->flags & dlpack::DLPACK_FLAG_BITMASK_READ_ONLY) != 0) {
    return absl::InvalidArgumentError("the DLPack tensor is read-only, but the kernel writes to it");
  }
  return ImportDlpack(std::move(device), managed->dl_tensor, std::move(owner));
}

absl::StatusOr<dlpack::DLManagedTensor*> ToDlpack(const Tensor& tensor) {
  return Export<dlpack::DLManagedTensor>(tensor);
}

absl::StatusOr<dlpack::DLManagedTensorVersioned*> ToVersionedDlpack(const Tensor& tensor) {
  return Export<dlpack::DLManagedTensorVersioned>(tensor);
}

}  // namespace telemetry::worker::runtime
