#pragma once

#include "absl/status/statusor.h"
#include "telemetry/v1/records.pb.h"
#include "worker/device/device.h"
#include "worker/kernel/bound_kernel.h"
#include "worker/tune/record/attempt_recorder.h"

namespace telemetry::worker::tune {

// A new attempt at that run, started now: with the kernel's IR graph, and the environment of this process and of the
// kernel's device. A graph that cannot be written is a warning in the log: what is measured is worth more.
AttemptInfo DescribeAttempt(const BoundKernel& kernel, v1::Run run);

}  // namespace telemetry::worker::tune
