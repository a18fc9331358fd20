#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/device/dtype.h"

namespace telemetry::worker::device {

// A common interface over the CUDA driver and OpenCL. Both are loaded at run time (dlopen), so that one binary serves
// machines with neither, either or both. Code outside of worker/device depends on the API only through the dialect of
// the source. Objects keep the objects that they depend on alive. Any thread may call a device, but only one at a time.
// Calls on one stream are executed in order.

// The language of a kernel's source.
enum class Dialect { kCuda, kOpenCl };

// Properties of a device.
struct DeviceProperties {
  Dialect dialect = Dialect::kOpenCl;
  int ordinal = 0;
  std::string name;             // "NVIDIA H200"
  std::string architecture;     // CUDA: "sm_90"; OpenCL: the device's version
  std::string driver_version;   // CUDA: "13.0"; OpenCL: the driver's own text
  std::string runtime_version;  // CUDA: NVRTC's "13.0"; OpenCL: the platform's name and version
  int compute_units = 0;
  int warp_size = 1;  // CUDA: 32. OpenCL: 1, because nothing is assumed about sub-groups
  int max_threads_per_block = 0;
  int max_threads_per_compute_unit = 0;  // 0: not known
  size_t shared_bytes_per_block = 0;     // the maximum that a kernel can request
  uint64_t global_bytes = 0;
  uint64_t l2_bytes = 0;     // 0: not known
  int clock_khz = 0;         // 0: not known
  int memory_clock_khz = 0;  // 0: not known
  int memory_bus_bits = 0;   // 0: not known
};

// Device memory, released with the object. An empty buffer has at least one byte of memory. Aligned to 128 bytes, the
// guarantee of OpenCL (CUDA: 256).
class Buffer {
 public:
  virtual ~Buffer() = default;
  virtual size_t size_bytes() const = 0;
  // Returns a number that identifies the buffer: the address on CUDA.
  virtual uint64_t handle() const = 0;
};

// The required alignment of a view's offset. Multiples of it satisfy the base address alignment of every device.
inline constexpr size_t kViewAlignment = 4096;

// A number of any type as the bytes of its parameter, little endian.
struct ScalarBytes {
  std::array<std::byte, 16> bytes = {};
  size_t size = 0;  // 1 to 16
  friend bool operator==(const ScalarBytes&, const ScalarBytes&) = default;
};

// One argument of a launch, in the order of the kernel's parameters.
using LaunchArgument = std::variant<const Buffer*, int32_t, int64_t, float, ScalarBytes>;

// The shape of a launch.
struct LaunchShape {
  int64_t grid = 1;  // blocks in x; 0 launches nothing
  int threads = 1;   // threads per block in x
  // Dynamic shared (local) memory. OpenCL: if not 0, the kernel's last parameter is a __local pointer to it.
  size_t shared_bytes = 0;
  // Blocks, and threads per block, in y and z.
  int64_t grid_y = 1;
  int64_t grid_z = 1;
  int threads_y = 1;
  int threads_z = 1;

  int64_t block_threads() const { return int64_t{threads} * threads_y * threads_z; }
};

// Properties of a compiled kernel that the device's compiler reports.
struct FunctionAttributes {
  int registers = 0;       // 0: not known
  size_t spill_bytes = 0;  // local memory per thread: values that did not fit into registers
  size_t static_shared_bytes = 0;
  int max_threads_per_block = 0;
};

// A loaded kernel. Launches are queued.
class Function {
 public:
  virtual ~Function() = default;
  virtual FunctionAttributes attributes() const = 0;
  // RESOURCE_EXHAUSTED: more threads or shared memory than this kernel supports. INVALID_ARGUMENT: an invalid shape, or
  // the arguments do not match the kernel's parameters. INTERNAL: an error of the driver with its name; after a sticky
  // error of CUDA, every call returns it.
  virtual absl::Status Launch(const LaunchShape& shape, absl::Span<const LaunchArgument> arguments) = 0;
  // Returns the number of blocks of this shape that fit a compute unit at once. 0: not known (OpenCL does not report
  // it).
  virtual int BlocksPerUnit(const LaunchShape& shape) const = 0;
};

// A point in a device's queue of work.
class Event {
 public:
  virtual ~Event() = default;
};

// Loaded code. Its functions keep it alive.
class Module {
 public:
  virtual ~Module() = default;
  // NOT_FOUND: the module has no such function; the message contains the name.
  virtual absl::StatusOr<std::unique_ptr<Function>> GetFunction(const std::string& name) = 0;
  // Copies bytes to the beginning of a __constant__ or __device__ variable; bytes beyond its end are ignored.
  // NOT_FOUND: the module has no such variable. UNIMPLEMENTED: the API has no such variables (OpenCL).
  virtual absl::Status SetVariable(const std::string& name, absl::Span<const std::byte> bytes);
};

// Compiled code that any device of the same architecture can load: a cubin, or OpenCL's binary (or the source itself,
// if a platform has no binaries).
struct CompiledCode {
  std::string binary;
  std::string log;  // the compiler's output, also after success
  // CUDA: the name, in the binary, of the kernel that the source's SourceOptions name. Empty: the name is the source's.
  std::string function;
};

// A matrix in a buffer, or a batch of them. All numbers count elements.
struct MatrixOperand {
  const Buffer* buffer = nullptr;
  bool is_column_major = false;
  int64_t leading = 0;       // from one row to the next; in a column-major matrix, from one column to the next
  int64_t batch_stride = 0;  // from one matrix of the batch to the next

  static MatrixOperand Dense(const Buffer* buffer, int64_t rows, int64_t columns) {
    return {.buffer = buffer, .leading = columns, .batch_stride = rows * columns};
  }
};

// Operands of out[i] = x[i] y[i] for `batch` pairs of matrices: x is m by k, y is k by n. `out` is dense and row major.
struct MatrixProduct {
  DType dtype = DType::kF32;
  int64_t batch = 1;
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  MatrixOperand x;
  MatrixOperand y;
  Buffer* out = nullptr;
};

// A device with one queue of work.
class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceProperties& properties() const = 0;
  // Returns a name such as "cuda:0" or "opencl:0".
  virtual std::string id() const = 0;

  // RESOURCE_EXHAUSTED: the device does not have enough memory.
  virtual absl::StatusOr<std::unique_ptr<Buffer>> Allocate(size_t size_bytes) = 0;
  // Returns a part of a buffer from Allocate() as a buffer of its own, which keeps the memory alive. Views of views are
  // not supported. INVALID_ARGUMENT: the offset is not a multiple of kViewAlignment. OUT_OF_RANGE: the range exceeds
  // the buffer.
  virtual absl::StatusOr<std::unique_ptr<Buffer>> View(const Buffer* whole, size_t offset_bytes, size_t size_bytes) = 0;
  // Copies wait for the work queued before and return when they are done. OUT_OF_RANGE: the range exceeds the buffer.
  virtual absl::Status Upload(Buffer* to, size_t offset_bytes, absl::Span<const std::byte> from) = 0;
  virtual absl::Status Download(const Buffer* from, size_t offset_bytes, absl::Span<std::byte> to) = 0;
  // Queues a fill of all bytes with `value`.
  virtual absl::Status Fill(Buffer* buffer, uint8_t value) = 0;
  // Queues a copy of the first `size_bytes` bytes.
  virtual absl::Status Copy(Buffer* to, const Buffer* from, size_t size_bytes) = 0;

  // Queues a matrix product of the vendor's library (cuBLAS, opened at the first call): f32 without TF32, f16 and bf16
  // accumulated in f32. UNAVAILABLE: there is no such library; the message lists the paths that were tried.
  // UNIMPLEMENTED: the library does not support the dtype. OUT_OF_RANGE: a matrix exceeds its buffer, or a size exceeds
  // the library's limit of 2^31 - 1.
  virtual absl::Status Multiply(const MatrixProduct& product) = 0;

  // INVALID_ARGUMENT: the source does not compile; the message is the compiler's log.
  virtual absl::StatusOr<CompiledCode> Compile(const std::string& source) = 0;
  virtual absl::StatusOr<std::unique_ptr<Module>> Load(const CompiledCode& code) = 0;

  // Records an event at this point of the queue.
  virtual absl::StatusOr<std::unique_ptr<Event>> Record() = 0;
  // Waits for `end` and returns the milliseconds between two events of this device.
  virtual absl::StatusOr<double> ElapsedMs(const Event& begin, const Event& end) = 0;
  // Waits until all queued work is done. INTERNAL: a launch failed.
  virtual absl::Status Synchronize() = 0;
};

// Returns a name such as "cuda:0" or "opencl:1".
std::string DeviceId(const DeviceProperties& properties);

}  // namespace telemetry::worker::device
