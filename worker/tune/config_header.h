#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "worker/tune/best_configs.h"
#include "worker/tune/spec_kernel.h"

namespace telemetry::worker::tune {

// Returns a C header for the program that launches the kernel of a specification: a `#define` for each parameter of the
// config, with the value that the kernel was compiled with, and for the launch on the specification's problem size:
// launch_blocks_x, _y, _z, launch_threads_x, _y, _z and launch_shared_bytes. The macros' names begin with `prefix`, so
// that a program can include the headers of several kernels, devices and sizes. INVALID_ARGUMENT: the prefix is not the
// beginning of an identifier, the config does not belong to the specification, or a macro would be defined twice.
absl::StatusOr<std::string> ConfigHeader(const BestConfig& best, const SpecKernel& kernel, std::string_view prefix);

}  // namespace telemetry::worker::tune
