#pragma once

#include "absl/status/statusor.h"
#include "telemetry/v1/records.pb.h"
#include "worker/device/device.h"
#include "worker/runtime/bound_kernel.h"
#include "worker/tune/recording/attempt_recorder.h"

namespace telemetry::worker::tune {

// Returns a new attempt at `run` that starts now, with the kernel's IR graph and the environment of this process and of
// the kernel's device. Logs a warning and omits the IR graph if it cannot be extracted, so that the attempt still runs.
recording::AttemptInfo DescribeAttempt(const runtime::BoundKernel& kernel, v1::Run run);

// Returns a new attempt at `run` without an IR graph.
recording::AttemptInfo DescribeAttempt(const device::DeviceProperties& device, v1::Run run);

}  // namespace telemetry::worker::tune
