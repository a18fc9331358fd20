#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/codegen/target.h"
#include "worker/debug/debug_options.h"
#include "worker/device/device.h"
#include "worker/wrapper/lines.h"

namespace telemetry::worker::wrapper::program {

// The options of a standalone program of a plan, for users with a GPU and a compiler but nothing of this project.
//
// The program makes its inputs from a seed, runs the lines of the plan, and compares the outputs with the results that
// the references of the kernels gave when the program was written. It times the launches, each after a flush of the
// cache of the device, as the tuner does. Its exit status is 0 if the results are right, 1 if they are wrong, 2 if the
// program could not run.
struct ProgramOptions {
  codegen::Target target = {};             // the device; its dialect is that of the program
  codegen::GenerateOptions generate = {};  // from the settings of a run
  uint64_t seed = 1;                       // of the inputs, as for MakeCase()
  std::string name = {};                   // of the file, without its extension; empty: the name of the plan (FileName)
  std::vector<std::string> comments = {};  // lines for the head of the file: the origin of the plan
  std::optional<double> measured_ms = {};  // a measured time of the launches, for comparison; unset: not known
  // The device that runs the references of kernels that are given as source when a program is written. May be null for
  // a plan without such kernels.
  std::shared_ptr<device::Device> references = {};
  // The program prints or saves values around its launches, before it times them, with the output and the files of
  // debug::ValueDebugger. It ends at errors of the device. The folder is relative to where the program runs.
  debug::DebugOptions debug = {};
};

// Writes a program of one C++ file for CUDA or OpenCL. UNIMPLEMENTED: an extern kernel that the program cannot compute;
// the message names it and lists those that it can. INVALID_ARGUMENT: VerifyPlan() refuses the plan, a view begins
// where no buffer can begin (kViewAlignment), a config is not in the space of its kernel, or the program has another
// language than a kernel that is given as source. FAILED_PRECONDITION: ProgramOptions::references is null, but needed.
// Other errors are those of codegen::emit::Generate() and of that device.
absl::StatusOr<std::string> CppProgram(const Plan& plan, const ProgramOptions& options);

// The options of g++ that find the libraries of a program. The loader of OpenCL is linked by its file name, which
// exists without the development packages.
inline constexpr char kOpenClLibraries[] = "-l:libOpenCL.so.1";
inline constexpr char kCudaFolders[] =
    "-I/usr/local/cuda/include -L/usr/local/cuda/lib64 -L/usr/local/cuda/lib64/stubs -Wl,-rpath,/usr/local/cuda/lib64";
inline constexpr char kCudaLibraries[] = "-lnvrtc -lcuda";

// Returns the shell command that compiles NAME.cpp in the current directory into the program NAME. The plan must be
// verified.
std::string CompileCommand(const Plan& plan, const ProgramOptions& options);
// Returns the command for other paths, which must be quoted for the shell.
std::string CompileCommand(const Plan& plan, const ProgramOptions& options, std::string_view source,
                           std::string_view program);

// A plan at one of the shapes that a program has code for.
struct PlanShape {
  std::map<std::string, int64_t, std::less<>> sizes;  // values of symbols, other ones than those of other shapes
  Plan plan;
};
// Writes a program with the code of several shapes of one plan, whose sizes differ; there must be at least one, and
// ProgramOptions::measured_ms is not used. The program runs and checks each shape, with the inputs that a program of
// this shape alone draws, or those that its flags choose: --size keys=64. Errors are those of CppProgram(), with the
// shape.
absl::StatusOr<std::string> CppProgram(absl::Span<const PlanShape> shapes, const ProgramOptions& options);
absl::StatusOr<std::string> PythonProgram(absl::Span<const PlanShape> shapes, const ProgramOptions& options);
// The module of the program, which make_module() returns, chooses the shape by the sizes of its inputs; ValueError
// lists the shapes. INVALID_ARGUMENT also: two shapes have inputs of equal sizes.
absl::StatusOr<std::string> FxProgram(absl::Span<const PlanShape> shapes, const ProgramOptions& options);
// Returns the plan of a shape that needs the most libraries, for CompileCommand().
const Plan& PlanToCompile(absl::Span<const PlanShape> shapes, const ProgramOptions& options);

// Writes a program of one file for Python 3 with CuPy and NumPy. Errors are those of CppProgram(). INVALID_ARGUMENT
// also: the target is not CUDA, which CuPy needs.
absl::StatusOr<std::string> PythonProgram(const Plan& plan, const ProgramOptions& options);

// Writes a program of one file for Python 3 with PyTorch and NumPy. Its function make_graph_module() returns the plan
// as a torch.fx.GraphModule, for tensors on the CUDA device, or, in OpenCL programs, on the CPU. Run as a program, the
// file checks the results, but does not time the launches. Kernels of the plan are calls of the function `launch`,
// which runs their generated code (with CuPy on CUDA, with PyOpenCL on OpenCL); extern kernels are operations of
// PyTorch. Errors are those of CppProgram(). INVALID_ARGUMENT also: debug calls are requested; torch.fx.Interpreter
// shows the values.
absl::StatusOr<std::string> FxProgram(const Plan& plan, const ProgramOptions& options);

// Returns the NAME of NAME.cpp, NAME.py and NAME_fx.py. It consists of letters, digits, '.', '-' and '_'; other
// characters become
// '_'.
std::string FileName(const Plan& plan, const ProgramOptions& options);

}  // namespace telemetry::worker::wrapper::program
