#include "worker/tune/measure/kernel_words.h"

namespace telemetry::worker::tune {
namespace {

constexpr char kCudaWords[] = R"(
#define KERNEL extern "C" __global__ void
#define GLOBAL
typedef long long i64;
#define FIRST ((i64)blockIdx.x * blockDim.x + threadIdx.x)
#define STEP ((i64)gridDim.x * blockDim.x)
#define ADD(to, value) atomicAdd(to, value)
#define MAX(to, value) atomicMax(to, value)
#define FLOAT_OF(bits) __uint_as_float(bits)
#define BITS_OF(number) __float_as_uint(number)
typedef unsigned int uint;
)";

constexpr char kOpenClWords[] = R"(
#define KERNEL __kernel void
#define GLOBAL __global
typedef long i64;
#define FIRST ((i64)get_global_id(0))
#define STEP ((i64)get_global_size(0))
#define ADD(to, value) atomic_add(to, value)
#define MAX(to, value) atomic_max(to, value)
#define FLOAT_OF(bits) as_float(bits)
#define BITS_OF(number) as_uint(number)
)";

}  // namespace

std::string KernelWords(Dialect dialect) { return dialect == Dialect::kCuda ? kCudaWords : kOpenClWords; }

}  // namespace telemetry::worker::tune
