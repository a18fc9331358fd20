#pragma once

#include <cstdint>
#include <string>

#include "worker/device/device.h"
#include "worker/device/dtype.h"

namespace telemetry::worker::debug {

// The source of the kernel that computes statistics (device_statistics.h), the same for both dialects:
//   tensor_statistics(memory, dtype, elements, rank, stride, layout, parts)
// Its thread blocks have StatisticsThreads() threads and write one part each. For a rank above 1, `layout` contains the
// sizes, then the strides; for rank 1, `stride` is the stride.

// The type of the sums.
enum class StatisticsSums { kDouble, kFloat };

std::string StatisticsSource(device::Dialect dialect, StatisticsSums sums);
// Returns the number of threads of a thread block, a power of two.
int StatisticsThreads(device::Dialect dialect);

// The memory layout of a part as the kernel writes it. Real is the type of the sums.
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

// Converts the kernel's encoding of a minimum or maximum back to the element's value.
double ValueOfOrder(uint32_t order, device::DType dtype);

}  // namespace telemetry::worker::debug
