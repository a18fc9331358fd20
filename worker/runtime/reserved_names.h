#pragma once

#include <string_view>

#include "absl/status/status.h"

namespace telemetry::worker::runtime {

// Returns true if a parameter or kernel must not have this name. Names appear in the generated code, so names that this
// code uses itself are reserved: keywords of C and C++, OpenCL C and CUDA, the types and built-ins of both dialects,
// and the names of the generator's variables. The complete list is in reserved_names.cc.
bool IsReservedName(std::string_view name);

// INVALID_ARGUMENT: the name is not a C identifier of at most 64 characters, or is reserved. The message begins with
// `what`, for example "parameter 3 of kernel 'add'".
absl::Status CheckName(std::string_view what, std::string_view name);

}  // namespace telemetry::worker::runtime
