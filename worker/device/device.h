#pragma once

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

namespace telemetry::worker {

// One interface over CUDA's driver and OpenCL. Both are loaded at run time (dlopen), so that one binary serves machines
// with neither, either or both; nothing outside worker/device knows which it is but for the dialect of the source.
// Objects keep what they need of each other alive. Calls on one device may come from any thread, one at a time; calls
// on one stream are executed in order.

enum class Dialect { kCuda, kOpenCl };

struct DeviceProperties {
  Dialect dialect = Dialect::kOpenCl;
  int ordinal = 0;
  std::string name;             // "NVIDIA H200"
  std::string architecture;     // CUDA: "sm_90"; OpenCL: the device's version
  std::string driver_version;   // CUDA: "13.0"; OpenCL: the driver's own text
  std::string runtime_version;  // CUDA: NVRTC's "13.0"; OpenCL: the platform's name and version
  int compute_units = 0;
  int warp_size = 1;  // CUDA: 32. OpenCL: 1, nothing is assumed of sub-groups
  int max_threads_per_block = 0;
  int max_threads_per_compute_unit = 0;  // 0: not known
  size_t shared_bytes_per_block = 0;     // the most that a kernel can ask for
  uint64_t global_bytes = 0;
  uint64_t l2_bytes = 0;     // 0: not known
  int clock_khz = 0;         // 0: not known
  int memory_clock_khz = 0;  // 0: not known
  int memory_bus_bits = 0;   // 0: not known
};

// Device memory, released with the object. At least one byte is behind an empty buffer. Aligned to 128 bytes, which is
// what OpenCL promises (CUDA gives 256).
class Buffer {
 public:
  virtual ~Buffer() = default;
  virtual size_t size_bytes() const = 0;
  // A number that tells buffers apart: the address on CUDA.
  virtual uint64_t handle() const = 0;
};

// Where a view of a buffer may begin: multiples of this are enough for the base addresses of every device.
inline constexpr size_t kViewAlignment = 4096;

// One argument of a launch, in the order of the kernel's parameters.
using LaunchArgument = std::variant<const Buffer*, int32_t, int64_t, float>;

struct LaunchShape {
  int64_t grid = 1;  // blocks, in one dimension; 0 launches nothing
  int threads = 1;   // a block's
  size_t shared_bytes =
      0;  // dynamic shared (local) memory. OpenCL: the last parameter is this __local pointer when not 0
};

// What the device's compiler says of a kernel.
struct FunctionAttributes {
  int registers = 0;       // 0: not known
  size_t spill_bytes = 0;  // a thread's local memory: what registers did not hold
  size_t static_shared_bytes = 0;
  int max_threads_per_block = 0;
};

// A loaded kernel. Launches only queue.
class Function {
 public:
  virtual ~Function() = default;
  virtual FunctionAttributes attributes() const = 0;
  // RESOURCE_EXHAUSTED: more threads or shared memory than this kernel can have. INVALID_ARGUMENT: no launch is so, or
  // the arguments are not the kernel's. INTERNAL: the driver's error by name, of each call after a sticky one of CUDA.
  virtual absl::Status Launch(const LaunchShape& shape, absl::Span<const LaunchArgument> arguments) = 0;
  // Blocks of this shape that a compute unit holds at once. 0: not known (OpenCL does not tell).
  virtual int BlocksPerUnit(const LaunchShape& shape) const = 0;
};

// A point in a device's queue of work.
class Event {
 public:
  virtual ~Event() = default;
};

// Compiled code, loaded. Functions keep it alive.
class Module {
 public:
  virtual ~Module() = default;
  // NOT_FOUND names what the module holds not.
  virtual absl::StatusOr<std::unique_ptr<Function>> GetFunction(const std::string& name) = 0;
};

// What a compiler made of a source, to be loaded by any device of that architecture: a cubin, or OpenCL's binary (or,
// where a platform has none, the source itself).
struct CompiledCode {
  std::string binary;
  std::string log;  // the compiler's remarks, also when it succeeded
};

// out[i] = x[i] y[i] for each of `batch` pairs of matrices, dense and row major, one pair behind the other: x m by k, y
// k by n.
struct MatrixProduct {
  DType dtype = DType::kF32;
  int64_t batch = 1;
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  const Buffer* x = nullptr;
  const Buffer* y = nullptr;
  Buffer* out = nullptr;
};

class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceProperties& properties() const = 0;
  // "cuda:0", "opencl:0".
  virtual std::string id() const = 0;

  // RESOURCE_EXHAUSTED: the device has not so much memory.
  virtual absl::StatusOr<std::unique_ptr<Buffer>> Allocate(size_t size_bytes) = 0;
  // A part of a buffer of Allocate (of a view there is none) as a buffer of its own, which keeps the memory alive.
  // INVALID_ARGUMENT: the offset is not a multiple of kViewAlignment. OUT_OF_RANGE: beyond the buffer.
  virtual absl::StatusOr<std::unique_ptr<Buffer>> View(const Buffer* whole, size_t offset_bytes, size_t size_bytes) = 0;
  // Copies wait for what was queued before, and return when they are done. OUT_OF_RANGE: beyond the buffer.
  virtual absl::Status Upload(Buffer* to, size_t offset_bytes, absl::Span<const std::byte> from) = 0;
  virtual absl::Status Download(const Buffer* from, size_t offset_bytes, absl::Span<std::byte> to) = 0;
  // Queues: every byte becomes `value`.
  virtual absl::Status Fill(Buffer* buffer, uint8_t value) = 0;
  // Queues a copy of the first bytes.
  virtual absl::Status Copy(Buffer* to, const Buffer* from, size_t size_bytes) = 0;

  // Queues it as the vendor's library computes it (cuBLAS, opened at the first call): f32 without TF32, f16 and bf16
  // added up in f32. UNAVAILABLE: there is no such library, says what was looked for. UNIMPLEMENTED: not for this
  // dtype. OUT_OF_RANGE: beyond a buffer, or a number beyond the library's 2^31 - 1.
  virtual absl::Status Multiply(const MatrixProduct& product) = 0;

  // INVALID_ARGUMENT with the compiler's log when the source does not compile.
  virtual absl::StatusOr<CompiledCode> Compile(const std::string& source) = 0;
  virtual absl::StatusOr<std::unique_ptr<Module>> Load(const CompiledCode& code) = 0;

  // Marks this point of the queue.
  virtual absl::StatusOr<std::unique_ptr<Event>> Record() = 0;
  // Waits for `end`; milliseconds between two points of this device.
  virtual absl::StatusOr<double> ElapsedMs(const Event& begin, const Event& end) = 0;
  // Waits until all that was queued is done. INTERNAL: one of the launches failed.
  virtual absl::Status Synchronize() = 0;
};

// "cuda:0", "opencl:1".
std::string DeviceId(const DeviceProperties& properties);

// All devices of this machine, CUDA's first. Empty where neither driver is there. `notices` says what was looked for
// and is not there, and what was left out because it answered with an error.
std::vector<DeviceProperties> ListDevices(std::vector<std::string>* notices = nullptr);

// "cuda:0", "opencl:1"; "" takes the first of ListDevices. NOT_FOUND says what is there.
absl::StatusOr<std::shared_ptr<Device>> OpenDevice(const std::string& id);

// NVRTC without a device: compiles CUDA source for an architecture ("sm_80", "sm_90") to a cubin, with every
// instruction that architecture has. UNAVAILABLE: there is
// no NVRTC on this machine (says where it was looked for). INVALID_ARGUMENT: the log.
absl::StatusOr<CompiledCode> CompileCuda(const std::string& source, const std::string& architecture);

}  // namespace telemetry::worker
