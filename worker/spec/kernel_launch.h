#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/device/device.h"
#include "worker/spec/declared_block.h"
#include "worker/spec/launch_size.h"
#include "worker/spec/specification.h"

namespace telemetry::worker::spec {

// Returns the bytes of the local memory that the specification's last argument points to; 0: it is no such argument.
int64_t LocalArgumentBytes(const Specification& spec);

// Returns the launch of the kernel, or of the reference kernel if `launch` is that of Verification. `config` is an
// index of values for each parameter, and `declared` the block that the launched source declares. `shared_bytes` of the
// result is the memory that the launch sets: in CUDA SharedMemory, in OpenCL the local memory of the last argument.
// INVALID_ARGUMENT: as LaunchSizeOf, or the source declares another block. RESOURCE_EXHAUSTED: the launch has more
// threads than the source declares or exceeds a limit. In OpenCL the limit of shared memory also counts SharedMemory,
// which the kernel itself declares.
absl::StatusOr<LaunchSize> KernelLaunch(const Specification& spec, const LaunchExpressions& launch,
                                        const DeclaredBlock& declared, const std::vector<size_t>& config,
                                        const LaunchLimits& limits = {});

device::LaunchShape ToLaunchShape(const LaunchSize& size);

}  // namespace telemetry::worker::spec
