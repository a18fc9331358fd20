#pragma once

#include <cstdint>
#include <string>

#include "worker/device/device.h"
#include "worker/device/dtype.h"

namespace telemetry::worker::debug {

// The kernel that computes statistics (device_statistics.h), one text for both dialects:
//   tensor_statistics(memory, dtype, elements, rank, stride, layout, parts)
// in blocks of StatisticsThreads, each of which writes one part. `layout` has sizes, then strides, of a rank beyond 1;
// `stride` is that of rank 1.

// What sums are kept in.
enum class StatisticsSums { kDouble, kFloat };

std::string StatisticsSource(Dialect dialect, StatisticsSums sums);
// A power of two.
int StatisticsThreads(Dialect dialect);

// A part as the kernel writes it; Real is the sums' type.
template <typename Real>
struct StatisticsCodePart {
  int64_t finite;
  int64_t nans;
  int64_t infinities;
  Real mean;
  Real squares;
  uint32_t minimum;
  uint32_t maximum;
};
static_assert(sizeof(StatisticsCodePart<double>) == 48 && sizeof(StatisticsCodePart<float>) == 40,
              "no gaps that dialects may differ in");

// The element that the kernel's extreme stands for.
double ValueOfOrder(uint32_t order, DType dtype);

}  // namespace telemetry::worker::debug
