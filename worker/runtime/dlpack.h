#pragma once

#include <cstdint>

// The structs of DLPack, through which libraries share tensors in one process. Names and layout are those of version
// 1.0 of its C header (github.com/dmlc/dlpack, include/dlpack/dlpack.h), a stable ABI. Defined here, because Debian 12
// has version 0.6, without the versioned tensor and without booleans.

namespace telemetry::worker::runtime::dlpack {

// The kinds of devices that are used here.
enum : int32_t { kDLCPU = 1, kDLCUDA = 2, kDLCUDAHost = 3, kDLCUDAManaged = 13 };
// The kinds of element types.
enum : uint8_t { kDLInt = 0, kDLUInt = 1, kDLFloat = 2, kDLBfloat = 4, kDLComplex = 5, kDLBool = 6 };

inline constexpr uint32_t DLPACK_MAJOR_VERSION = 1;
inline constexpr uint32_t DLPACK_MINOR_VERSION = 0;
inline constexpr uint64_t DLPACK_FLAG_BITMASK_READ_ONLY = 1;

// A device: its kind, and its number among those of the kind.
struct DLDevice {
  int32_t device_type = 0;
  int32_t device_id = 0;
};

// An element type: its kind, its size in bits, and the elements of a vector.
struct DLDataType {
  uint8_t code = 0;
  uint8_t bits = 0;
  uint16_t lanes = 1;
};

// A tensor without ownership of its memory.
struct DLTensor {
  void* data = nullptr;
  DLDevice device;
  int32_t ndim = 0;
  DLDataType dtype;
  int64_t* shape = nullptr;
  int64_t* strides = nullptr;  // in elements; null: dense and row-major
  uint64_t byte_offset = 0;
};

// The form before version 1.0, which a capsule with the name "dltensor" contains.
struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx = nullptr;
  void (*deleter)(DLManagedTensor* self) = nullptr;
};

// The version of the structs that the exporting library uses.
struct DLPackVersion {
  uint32_t major = DLPACK_MAJOR_VERSION;
  uint32_t minor = DLPACK_MINOR_VERSION;
};

// The form since version 1.0, which a capsule with the name "dltensor_versioned" contains.
struct DLManagedTensorVersioned {
  DLPackVersion version;
  void* manager_ctx = nullptr;
  void (*deleter)(DLManagedTensorVersioned* self) = nullptr;
  uint64_t flags = 0;
  DLTensor dl_tensor;
};

static_assert(sizeof(DLTensor) == 48 && sizeof(DLManagedTensor) == 64 && sizeof(DLManagedTensorVersioned) == 80,
              "DLPack's layout on 64-bit systems");

}  // namespace telemetry::worker::runtime::dlpack
