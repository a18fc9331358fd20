#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/device/device.h"
#include "worker/ir/compare.h"
#include "worker/wrapper/lines.h"
#include "worker/wrapper/run_plan.h"

namespace telemetry::worker::wrapper::program {

// Returns INVALID_ARGUMENT if the values of the plan's buffers on the host exceed this machine's physical memory.
absl::Status CheckFitsMemory(const Plan& plan);

// Runs the plan of a runner on its device, and its kernels' IR on the host, with the inputs that programs of the plan
// draw from the seed. The references of kernels that are given as source run on the device, too. Returns the comparison
// of each output. Errors are those of CheckFitsMemory() and PlanRunner.
absl::StatusOr<std::vector<ir::Comparison>> RunAndCompare(PlanRunner* runner,
                                                          const std::shared_ptr<device::Device>& device, uint64_t seed);

}  // namespace telemetry::worker::wrapper::program
