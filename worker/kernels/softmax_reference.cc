#include "worker/kernels/softmax_reference.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "worker/kernels/tolerance.h"

namespace telemetry::worker::kernels {

Outputs SoftmaxReference(const Case& c) {
  ir::HostArray out = c.tensor("x");
  const int64_t columns = c.size("n");
  for (auto row = out.data.begin(); row != out.data.end(); row += columns) {
    const double max = *std::max_element(row, row + columns);
    double sum = 0;
    for (auto value = row; value != row + columns; ++value) sum += * value = std::exp(*value - max);
    for (auto value = row; value != row + columns; ++value) *value /= sum;
  }
  return {{"out", std::move(out)}};
}

ir::Tolerance SoftmaxTolerance(const Problem& /*problem*/, device::DType output) { return Rounded(output, 6e-8); }

double SoftmaxFlops(const Problem& problem) { return 5.0 * static_cast<double>(problem.size("m") * problem.size("n")); }

}  // namespace telemetry::worker::kernels
