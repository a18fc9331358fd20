#pragma once

#include "absl/status/statusor.h"
#include "worker/codegen/config.h"
#include "worker/codegen/generated_kernel.h"
#include "worker/codegen/target.h"
#include "worker/ir/graph.h"

namespace telemetry::worker::codegen::emit {

// Generates the source of a kernel for one config; missing keys have their defaults. INVALID_ARGUMENT: the config is
// not in the search space; the message names the key and the allowed values. RESOURCE_EXHAUSTED: the tile exceeds the
// target's threads or shared memory; the message contains the amount that is needed. UNIMPLEMENTED: an operation or a
// dynamic reduction axis is not supported; the message names the node or the axis.
absl::StatusOr<GeneratedKernel> Generate(const ir::DeviceIr& ir, const Config& config, const Target& target,
                                         const GenerateOptions& options = {});

}  // namespace telemetry::worker::codegen::emit
