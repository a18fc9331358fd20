#pragma once

#include <string_view>

#include "absl/status/status.h"

namespace telemetry::worker {

// Names of parameters and kernels stand in the generated code, so they may not be what that code uses itself: keywords
// of C and C++, OpenCL C and CUDA, the types and built-ins that both dialects have, what the generator names its own
// variables. The whole list is in reserved_names.cc.
bool IsReservedName(std::string_view name);

// INVALID_ARGUMENT unless it is a C identifier, at most 64 characters, that is not reserved. `what` begins the message:
// "parameter 3 of kernel 'add'".
absl::Status CheckName(std::string_view what, std::string_view name);

}  // namespace telemetry::worker
