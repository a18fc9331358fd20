#pragma once

#include <string>
#include <vector>

namespace telemetry::worker::device {

// The options that devices pass to their compilers, for programs that must get the same code.

// Returns NVRTC's options. `architecture` is a name such as "sm_80" or "sm_90".
std::vector<std::string> CudaCompileOptions(const std::string& architecture);

// The options of clBuildProgram. They never include fast-math options, so values are computed exactly as written.
inline constexpr char kOpenClCompileOptions[] = "-cl-std=CL1.2";

}  // namespace telemetry::worker::device
