#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/codegen/config.h"
#include "worker/repro/repro_program.h"
#include "worker/runtime/bound_kernel.h"
#include "worker/runtime/repro_writer.h"

namespace telemetry::worker::repro {

// Standalone programs that repeat one call of a bound kernel: of the library or an own traced function, with any
// arguments.

// The options of a program.
struct CallProgramOptions {
  ProgramLanguage language = ProgramLanguage::kCpp;
  std::string path;    // of the program; empty: a file in the current folder, such as "softmax_0123456789abcdef.cpp"
  std::string reason;  // for the head of the program: the error of the call, or what to look at
  // True: the program reads the values of all tensors from files. False: floats repeat 251 numbers between -1 and 1,
  // and only integers and bools, which may be indices, have the values of the call.
  bool with_values = false;
  double measured_ms = 0;  // the time of the call; 0: not known
};

// Returns the program of a call with these complete arguments. The program has the arguments with their shapes, dtypes,
// strides and numbers, the config and its code. It compiles and launches the code, compares the results with those of
// the kernel's default config without tensor cores and approximate functions, and times it. Its exit status is 0 if
// they agree, 1 if they differ, 2 if the code does not compile or cannot be launched. Outputs are filled with 0xff
// before. In Python it needs CuPy for CUDA and PyOpenCL for OpenCL. A tensor whose memory cannot be read is 0 in the
// program, and the program's notices say so. FAILED_PRECONDITION: the kernel is in reference mode. Returns the errors
// of BoundKernel::Generate.
absl::StatusOr<ReproProgram> MakeCallProgram(const runtime::BoundKernel& kernel, const codegen::Config& config,
                                             absl::Span<const runtime::Argument> arguments,
                                             const CallProgramOptions& options);

// Returns a writer for KernelSpec::repro_writer. It writes the programs into a folder, which must exist, and logs the
// path and the command of each. It writes one program for each kernel, specialization and config, the first; files are
// never overwritten. Thread-safe.
struct ReproWriterOptions {
  ProgramLanguage language = ProgramLanguage::kCpp;
  std::string folder = ".";
  bool with_values = false;  // as in CallProgramOptions
};
std::shared_ptr<runtime::ReproWriter> NewReproWriter(ReproWriterOptions options);

}  // namespace telemetry::worker::repro
