#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/codegen/generated_kernel.h"
#include "worker/kernels/draw.h"
#include "worker/wrapper/lines.h"
#include "worker/wrapper/program/debug_calls.h"
#include "worker/wrapper/program/expectation.h"
#include "worker/wrapper/program/program.h"

namespace telemetry::worker::wrapper::program {

// The content of a program of a plan, independent of the language. Plain data.

// Code of a kernel. A kernel of the plan has more than one if calls pass it tensors of different strides.
struct ProgramKernel {
  std::string name;                      // unique: "softmax", "softmax_strided"
  int kernel = -1;                       // index in Plan::kernels
  codegen::GeneratedKernel generated;    // of a kernel that is given as source: the source and the function only
  const SourceKernel* source = nullptr;  // set for a kernel that is given as source; of the plan
};

// A buffer as an argument of a function.
struct BufferArgument {
  int buffer = -1;
};
// The numbers of a kernel that is given as source belong to the plan.
using ProgramArgument = std::variant<BufferArgument, int64_t, float, const SourceNumber*>;

// The launch of a line.
struct ProgramLaunch {
  int kernel = -1;   // in ProgramModel::kernels; -1: the line launches nothing
  int64_t grid = 0;  // not used for a kernel that is given as source, which has a shape of its own
  std::vector<ProgramArgument> arguments;  // of the function, in order
};

// All parts of a program.
struct ProgramModel {
  const Plan* plan = nullptr;  // must outlive the model
  ProgramOptions options;
  std::vector<ProgramKernel> kernels;
  std::vector<ProgramLaunch> launches;     // by line of the plan
  std::vector<Place> places;               // by buffer
  std::vector<kernels::DrawRange> ranges;  // by input
  std::vector<Expectation> expected;       // by output
  std::vector<DebugArgument> debug_inputs;
  std::vector<std::optional<DebugCall>> debug_calls;  // by line of the plan

  const ProgramKernel& kernel(const ProgramLaunch& launch) const { return kernels[static_cast<size_t>(launch.kernel)]; }
};

// Returns UNIMPLEMENTED if programs of a language cannot compute an extern kernel; the message names it.
using CheckExtern = absl::Status (*)(const PlanKernel& kernel);
// CheckExtern of programs in C++ and Python, which compute the kernels of an ExternKind.
absl::Status CheckExternKind(const PlanKernel& kernel);

// Verifies the plan and returns the model of its program. Errors are those of CppProgram() and `check_extern`.
absl::StatusOr<ProgramModel> MakeProgramModel(const Plan& plan, const ProgramOptions& options,
                                              CheckExtern check_extern = CheckExternKind);

// Returns the models of a program of several shapes. Errors are those of MakeProgramModel(), with the shape.
// INVALID_ARGUMENT also: there is no shape.
absl::StatusOr<std::vector<ProgramModel>> MakeShapeModels(absl::Span<const PlanShape> shapes,
                                                          const ProgramOptions& options, CheckExtern check_extern);

// Returns the compiler options of a kernel that is given as source.
std::vector<std::string> SourceCompileOptions(const ProgramModel& model, const SourceKernel& kernel);

// Returns the number of elements to allocate for a buffer: that of its size class, so that a buffer that reuses the
// memory fits.
int64_t AllocatedElements(const PlanBuffer& buffer);

// The extern kernels that programs compute without the code of this project.
enum class ExternKind { kProduct, kLayerNorm };
// Returns the kind of an extern kernel. UNIMPLEMENTED: it is of no kind; the message names it.
absl::StatusOr<ExternKind> FindExternKind(const PlanKernel& kernel);

// Returns true if cuBLAS supports the call of a product with the layouts of its arguments.
bool IsForCublas(const Plan& plan, const KernelCall& call);

}  // namespace telemetry::worker::wrapper::program
