#include "worker/spec/launch_size.h"

#include <cmath>
#include <limits>
#include <string>

#include "absl/status/status.h"
#include "proto/base/status_macros.h"
#include "proto/record/strings.h"

namespace telemetry::worker::spec {
namespace {

using record::Cat;

absl::StatusOr<double> NumberOf(const Expression& expression, absl::Span<const Value> values) {
  Evaluation evaluation;
  ASSIGN_OR_RETURN(const Value value, expression.Evaluate(values, &evaluation));
  if (value.is_number() && std::isfinite(value.real())) return value.real();
  return absl::InvalidArgumentError(Cat("'", expression.text(), "' is not a finite number"));
}

// Returns a size, rounded up.
absl::StatusOr<int64_t> SizeOf(const Expression& expression, absl::Span<const Value> values) {
  ASSIGN_OR_RETURN(const double number, NumberOf(expression, values));
  const double size = std::ceil(number);
  if (size >= 1 && size <= std::numeric_limits<int32_t>::max()) return static_cast<int64_t>(size);
  return absl::InvalidArgumentError(Cat("the size '", expression.text(), "' is ", size, ", not from 1 to 2^31 - 1"));
}

absl::StatusOr<int64_t> GridOf(const LaunchExpressions& launch, size_t axis, int64_t threads,
                               absl::Span<const Value> values) {
  ASSIGN_OR_RETURN(int64_t grid, SizeOf(launch.grid[axis], values));
  double divisor = 1;
  for (const Expression& expression : launch.divisors[axis]) {
    ASSIGN_OR_RETURN(const double factor, NumberOf(expression, values));
    // Kernel Tuner converts each divisor to an integer.
    divisor *= std::trunc(factor);
    if (!(divisor >= 1))
      return absl::InvalidArgumentError(Cat("the divisor '", expression.text(), "' is not positive"));
  }
  if (divisor > 1) grid = static_cast<int64_t>(std::ceil(static_cast<double>(grid) / divisor));
  if (!launch.grid_is_threads) return grid;
  if (grid % threads == 0) return grid / threads;
  return absl::InvalidArgumentError(Cat("the global size ", grid, " ('", launch.grid[axis].text(),
                                        "') is not a multiple of the local size ", threads));
}

}  // namespace

absl::StatusOr<LaunchSize> LaunchSizeOf(const LaunchExpressions& launch, absl::Span<const Value> values) {
  LaunchSize size;
  for (size_t axis = 0; axis < 3; ++axis) {
    ASSIGN_OR_RETURN(size.threads[axis], SizeOf(launch.threads[axis], values));
    if (size.threads[axis] > 65536) {
      return absl::InvalidArgumentError(Cat(size.threads[axis], " threads in one dimension of a block"));
    }
    ASSIGN_OR_RETURN(size.grid[axis], GridOf(launch, axis, size.threads[axis], values));
  }
  ASSIGN_OR_RETURN(const double shared, NumberOf(launch.shared_bytes, values));
  if (shared < 0 || shared > std::numeric_limits<int32_t>::max()) {
    return absl::InvalidArgumentError(
        Cat("the shared memory '", launch.shared_bytes.text(), "' is ", shared, " bytes"));
  }
  size.shared_bytes = static_cast<int64_t>(std::ceil(shared));
  return size;
}

absl::Status CheckLimits(const LaunchSize& size, const LaunchLimits& limits) {
  for (size_t axis = 0; axis < 3; ++axis) {
    const char name = "xyz"[axis];
    if (limits.threads[axis] > 0 && size.threads[axis] > limits.threads[axis]) {
      return absl::ResourceExhaustedError(Cat(size.threads[axis], " threads per block in ", std::string(1, name),
                                              "; the device's limit is ", limits.threads[axis]));
    }
    if (limits.grid[axis] > 0 && size.grid[axis] > limits.grid[axis]) {
      return absl::ResourceExhaustedError(
          Cat(size.grid[axis], " blocks in ", std::string(1, name), "; the device's limit is ", limits.grid[axis]));
    }
  }
  if (limits.threads_per_block > 0 && size.threads_per_block() > limits.threads_per_block) {
    return absl::ResourceExhaustedError(
        Cat(size.threads_per_block(), " threads per block; the device's limit is ", limits.threads_per_block));
  }
  if (limits.shared_bytes > 0 && size.shared_bytes > limits.shared_bytes) {
    return absl::ResourceExhaustedError(
        Cat(size.shared_bytes, " bytes of shared memory; the device's limit is ", limits.shared_bytes));
  }
  return absl::OkStatus();
}

}  // namespace telemetry::worker::spec
