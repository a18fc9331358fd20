#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace telemetry::worker::device {

// The options that devices pass to their compilers, for programs that must get the same code.

// Returns NVRTC's options. `architecture` is a name such as "sm_80" or "sm_90".
std::vector<std::string> CudaCompileOptions(const std::string& architecture);

// The options of clBuildProgram. They never include fast-math options, so values are computed exactly as written.
inline constexpr char kOpenClCompileOptions[] = "-cl-std=CL1.2";

// The options that a source carries in its first lines, so that a source has one meaning wherever it is compiled:
//
//   // telemetry-option: --use_fast_math
//   // telemetry-kernel: scale<float, 64>
struct SourceOptions {
  std::vector<std::string> options;  // of the device's compiler, without line breaks
  // CUDA: the kernel, as an expression of C++ that names it; the compiler reports its name in the binary. Empty: the
  // kernel is declared extern "C".
  std::string kernel;
};

// Returns the options of NVRTC, or of clBuildProgram, for a source with these options: a language standard replaces the
// default one.
std::vector<std::string> CudaCompileOptions(const std::string& architecture, const SourceOptions& of_source);
std::vector<std::string> OpenClCompileOptions(const SourceOptions& of_source);

// Returns the lines, to be put before the source.
std::string FormatSourceOptions(const SourceOptions& options);
// Returns the options of a source; none if it does not begin with such a line.
SourceOptions ReadSourceOptions(std::string_view source);

}  // namespace telemetry::worker::device
