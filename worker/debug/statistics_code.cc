#include "worker/debug/statistics_code.h"

#include <bit>

#include "proto/record/strings.h"
#include "worker/device/kernel_words.h"

namespace telemetry::worker::debug {
namespace {

using device::Dialect;

constexpr char kDouble[] = R"(
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
typedef double real;
)";

constexpr char kFloat[] = R"(
typedef float real;
)";

// Minimum and maximum are encoded as unsigned numbers with the same order as the elements, which is exact for any type
// `real`: floats by their bits, integers by their distance from the smallest integer.
constexpr char kBody[] = R"(
typedef struct {
  i64 finite;
  i64 nans;
  i64 infinities;
  real mean;
  real squares;
  uint minimum;
  uint maximum;
} Part;

uint order_of_float(uint bits) { return (bits & 0x80000000u) != 0u ? ~bits : bits | 0x80000000u; }

i64 place_of(GLOBAL const i64* layout, int rank, i64 stride, i64 i) {
  if (rank <= 1) return i * stride;
  i64 place = 0;
  for (int d = rank - 1; d > 0; --d) {
    place += i % layout[d] * layout[rank + d];
    i /= layout[d];
  }
  return place + i * layout[rank];
}

Part together(Part a, Part b) {
  a.nans += b.nans;
  a.infinities += b.infinities;
  if (b.finite == 0) return a;
  if (a.finite == 0) {
    b.nans = a.nans;
    b.infinities = a.infinities;
    return b;
  }
  const real share = (real)b.finite / (real)(a.finite + b.finite);
  const real apart = b.mean - a.mean;
  a.mean += apart * share;
  a.squares += b.squares + apart * apart * ((real)a.finite * share);
  a.finite += b.finite;
  if (b.minimum < a.minimum) a.minimum = b.minimum;
  if (b.maximum > a.maximum) a.maximum = b.maximum;
  return a;
}

KERNEL tensor_statistics(GLOBAL const uint* memory, int dtype, i64 elements, int rank, i64 stride,
                         GLOBAL const i64* layout, GLOBAL Part* parts) {
  LOCAL Part of_threads[THREADS];
  Part own;
  own.finite = 0;
  own.nans = 0;
  own.infinities = 0;
  own.minimum = 0xffffffffu;
  own.maximum = 0u;
  real origin = 0;
  real sum = 0;
  real squares = 0;
  for (i64 i = FIRST; i < elements; i += STEP) {
    const i64 place = place_of(layout, rank, stride, i);
    uint order;
    real value;
    if (dtype >= 3) {
      const int stored = integer(memory, dtype, place);
      const int number = dtype == 4 ? stored != 0 : stored;
      order = dtype == 10 ? (uint)number : (uint)number ^ 0x80000000u;
      value = dtype == 10 ? (real)(uint)number : (real)number;
    } else {
      const uint bits = float_bits(memory, dtype, place);
      if (is_nan(bits)) {
        ++own.nans;
        continue;
      }
      if (is_infinite(bits)) {
        ++own.infinities;
        continue;
      }
      order = order_of_float(bits);
      value = (real)FLOAT_OF(bits);
    }
    if (own.finite == 0) origin = value;
    const real distance = value - origin;
    sum += distance;
    squares += distance * distance;
    ++own.finite;
    if (order < own.minimum) own.minimum = order;
    if (order > own.maximum) own.maximum = order;
  }
  const real count = own.finite > 0 ? (real)own.finite : (real)1;
  own.mean = origin + sum / count;
  own.squares = squares - sum / count * sum;
  if (own.squares < 0) own.squares = 0;
  of_threads[THREAD] = own;
  for (int others = THREADS / 2; others > 0; others /= 2) {
    BARRIER;
    if (THREAD < others) of_threads[THREAD] = together(of_threads[THREAD], of_threads[THREAD + others]);
  }
  if (THREAD == 0) parts[BLOCK] = of_threads[0];
}
)";

}  // namespace

int StatisticsThreads(Dialect dialect) { return dialect == Dialect::kCuda ? 256 : 64; }

std::string StatisticsSource(Dialect dialect, StatisticsSums sums) {
  return record::Cat(device::KernelWords(dialect), device::ElementWords(),
                     sums == StatisticsSums::kDouble ? kDouble : kFloat, "#define THREADS ", StatisticsThreads(dialect),
                     kBody);
}

double ValueOfOrder(uint32_t order, device::DType dtype) {
  constexpr uint32_t kSign = 0x80000000u;
  if (dtype == device::DType::kU32) return order;
  if (!IsFloat(dtype)) return static_cast<int32_t>(order ^ kSign);
  return static_cast<double>(std::bit_cast<float>((order & kSign) != 0 ? order ^ kSign : ~order));
}

}  // namespace telemetry::worker::debug
