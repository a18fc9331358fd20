#include "worker/runtime/finite_search.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "spdlog/spdlog.h"
#include "worker/runtime/bound_kernel.h"

namespace telemetry::worker::runtime {
namespace {

constexpr int kRepetitions = 9;

absl::StatusOr<double> TimeOnce(BoundKernel& kernel, CompiledKernel& compiled, absl::Span<const Argument> arguments,
                                absl::Span<const Tensor> outputs) {
  device::Device& device = *kernel.device();
  ASSIGN_OR_RETURN(auto begin, device.Record());
  RETURN_IF_ERROR(kernel.Launch(compiled, arguments, outputs));
  ASSIGN_OR_RETURN(auto end, device.Record());
  return device.ElapsedMs(*begin, *end);
}

// Returns the median time of several launches after one warm-up launch.
absl::StatusOr<double> MedianMs(BoundKernel& kernel, const codegen::Config& config,
                                absl::Span<const Argument> arguments, absl::Span<const Tensor> outputs) {
  ASSIGN_OR_RETURN(auto compiled, kernel.CompileConfig(config));
  RETURN_IF_ERROR(kernel.Launch(*compiled, arguments, outputs));
  RETURN_IF_ERROR(kernel.device()->Synchronize());
  std::vector<double> times_ms;
  times_ms.reserve(kRepetitions);
  for (int i = 0; i < kRepetitions; ++i) {
    ASSIGN_OR_RETURN(double time_ms, TimeOnce(kernel, *compiled, arguments, outputs));
    times_ms.push_back(time_ms);
  }
  std::nth_element(times_ms.begin(), times_ms.begin() + kRepetitions / 2, times_ms.end());
  return times_ms[kRepetitions / 2];
}

}  // namespace

absl::StatusOr<codegen::Config> FiniteSearch::Find(BoundKernel& kernel, absl::Span<const Argument> arguments,
                                                   bool /*force*/) {
  if (configs_.empty()) return absl::InvalidArgumentError("no configs to search");
  ASSIGN_OR_RETURN(std::vector<Tensor> outputs, kernel.AllocateOutputs(arguments));
  const codegen::Config* best = nullptr;
  double best_ms = 0;
  absl::Status first_error;
  for (const codegen::Config& config : configs_) {
    const absl::StatusOr<double> time_ms = MedianMs(kernel, config, arguments, outputs);
    if (!time_ms.ok()) {
      spdlog::warn("{}: {} is left out: {}", kernel.name(), config.ToString(), time_ms.status().ToString());
      first_error.Update(time_ms.status());
    } else if (best == nullptr || *time_ms < best_ms) {
      best = &config;
      best_ms = *time_ms;
    }
  }
  if (best != nullptr) return *best;
  return absl::Status(first_error.code(),
                      record::Cat("none of the ", configs_.size(), " configs of kernel '", kernel.name(),
                                  "' runs; the first error: ", first_error.message()));
}

}  // namespace telemetry::worker::runtime
