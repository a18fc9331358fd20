#include "worker/device/kernel_words.h"

#include "worker/device/dtype.h"

namespace telemetry::worker::device {
namespace {

constexpr char kCudaWords[] = R"(
#define KERNEL extern "C" __global__ void
#define GLOBAL
#define LOCAL __shared__
typedef long long i64;
#define FIRST ((i64)blockIdx.x * blockDim.x + threadIdx.x)
#define STEP ((i64)gridDim.x * blockDim.x)
#define EACH(i, begin, end) for (i64 i = (begin) + FIRST; i < (end); i += STEP)
#define BLOCK ((int)blockIdx.x)
#define THREAD ((int)threadIdx.x)
#define BARRIER __syncthreads()
#define ADD(to, value) atomicAdd(to, value)
#define MAX(to, value) atomicMax(to, value)
#define FLOAT_OF(bits) __uint_as_float(bits)
#define BITS_OF(number) __float_as_uint(number)
typedef unsigned int uint;
)";

constexpr char kOpenClWords[] = R"(
#define KERNEL __kernel void
#define GLOBAL __global
#define LOCAL __local
typedef long i64;
#define FIRST ((i64)get_global_id(0))
#define STEP ((i64)get_global_size(0))
// OpenCL has no macro for the kind of a device, but compilers for processors define that of the processor. There, one
// thread runs the work items of a group one after the other: if neighbours had neighbouring elements, each work item
// would load every cache line again.
#if defined(__x86_64__) || defined(__aarch64__)
#define PART(begin, end, item) ((begin) + ((end) - (begin)) * (item) / STEP)
#define EACH(i, begin, end) \
  for (i64 i = PART(begin, end, FIRST), i##_end = PART(begin, end, FIRST + 1); i < i##_end; ++i)
#else
#define EACH(i, begin, end) for (i64 i = (begin) + FIRST; i < (end); i += STEP)
#endif
#define BLOCK ((int)get_group_id(0))
#define THREAD ((int)get_local_id(0))
#define BARRIER barrier(CLK_LOCAL_MEM_FENCE)
#define ADD(to, value) atomic_add(to, value)
#define MAX(to, value) atomic_max(to, value)
#define FLOAT_OF(bits) as_float(bits)
#define BITS_OF(number) as_uint(number)
)";

constexpr char kElementWords[] = R"(
#define INFINITE 0x7f800000u

uint f16_bits(uint half_bits) {
  const uint sign = (half_bits & 0x8000u) << 16;
  const uint exponent = (half_bits >> 10) & 31u;
  const uint mantissa = half_bits & 1023u;
  if (exponent == 31u) return sign | INFINITE | (mantissa << 13);
  if (exponent == 0u) return sign | BITS_OF((float)mantissa * 5.9604644775390625e-8f);
  return sign | ((exponent + 112u) << 23) | (mantissa << 13);
}

uint float_bits(GLOBAL const uint* memory, int dtype, i64 i) {
  if (dtype == 0) return memory[i];
  const uint narrow = ((GLOBAL const unsigned short*)memory)[i];
  return dtype == 1 ? f16_bits(narrow) : narrow << 16;
}

int narrowed(uint low, uint high) {
  const uint sign = (low & 0x80000000u) != 0u ? 0xffffffffu : 0u;
  return (int)(low ^ (high - sign) * 0x9e3779b9u);
}

int integer(GLOBAL const uint* memory, int dtype, i64 i) {
  if (dtype == 3 || dtype == 10) return (int)memory[i];
  if (dtype == 5) return ((GLOBAL const signed char*)memory)[i];
  if (dtype == 6) return ((GLOBAL const short*)memory)[i];
  if (dtype == 9) return ((GLOBAL const unsigned short*)memory)[i];
  if (dtype == 7 || dtype == 11) return narrowed(memory[2 * i], memory[2 * i + 1]);
  return ((GLOBAL const unsigned char*)memory)[i];
}

uint is_nan(uint bits) { return (bits & 0x7fffffffu) > INFINITE; }
uint is_infinite(uint bits) { return (bits & 0x7fffffffu) == INFINITE; }
)";

static_assert(static_cast<int>(DType::kF32) == 0 && static_cast<int>(DType::kF16) == 1 &&
                  static_cast<int>(DType::kBF16) == 2 && static_cast<int>(DType::kI32) == 3 &&
                  static_cast<int>(DType::kBool) == 4 && static_cast<int>(DType::kI8) == 5 &&
                  static_cast<int>(DType::kI16) == 6 && static_cast<int>(DType::kI64) == 7 &&
                  static_cast<int>(DType::kU8) == 8 && static_cast<int>(DType::kU16) == 9 &&
                  static_cast<int>(DType::kU32) == 10 && static_cast<int>(DType::kU64) == 11,
              "the kernels use these numbers for dtypes");

}  // namespace

std::string KernelWords(Dialect dialect) { return dialect == Dialect::kCuda ? kCudaWords : kOpenClWords; }

std::string ElementWords() { return kElementWords; }

int32_t NarrowedInteger(DType dtype, double value) {
  if (SizeOf(dtype) < sizeof(uint64_t)) return static_cast<int32_t>(static_cast<int64_t>(value));
  const auto bits =
      IsUnsigned(dtype) ? static_cast<uint64_t>(value) : static_cast<uint64_t>(static_cast<int64_t>(value));
  const auto low = static_cast<uint32_t>(bits);
  const uint32_t sign = (low & 0x80000000U) != 0 ? 0xffffffffU : 0;
  return static_cast<int32_t>(low ^ ((static_cast<uint32_t>(bits >> 32) - sign) * 0x9e3779b9U));
}

}  // namespace telemetry::worker::device
