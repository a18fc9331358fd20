#include "worker/kernels/fits_memory.h"

#include <unistd.h>

#include <cmath>

#include "absl/strings/str_format.h"

namespace telemetry::worker::kernels {
namespace {

// Sets of inputs that are in memory at the same time.
constexpr double kSets = 2;

}  // namespace

absl::Status CheckFitsMemory(const Problem& problem) {
  // A double, because the product of the sizes may overflow an integer.
  double bytes = 0;
  for (const TensorSpec& tensor : problem.tensors) {
    double elements = 1;
    for (const int64_t size : tensor.sizes) elements *= static_cast<double>(size);
    bytes += kSets * elements * sizeof(double);
  }
  const double there = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (bytes <= there) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrFormat("%s: the reference needs %.1f GiB for the input values, and this machine has %.1f GiB of "
                      "memory; make the "
                      "tensors smaller",
                      problem.ToString(), std::ldexp(bytes, -30), std::ldexp(there, -30)));
}

}  // namespace telemetry::worker::kernels
