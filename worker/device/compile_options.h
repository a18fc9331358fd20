#pragma once

#include <string>
#include <vector>

namespace telemetry::worker {

// The options that devices compile sources with: for who writes a program that has to get the same code.

// NVRTC's. `architecture`: "sm_80", "sm_90".
std::vector<std::string> CudaCompileOptions(const std::string& architecture);

// clBuildProgram's. Values exactly as written: no option of fast mathematics, ever.
inline constexpr char kOpenClCompileOptions[] = "-cl-std=CL1.2";

}  // namespace telemetry::worker
