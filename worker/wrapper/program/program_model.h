#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/codegen/generate.h"
#include "worker/kernels/draw.h"
#include "worker/wrapper/lines.h"
#include "worker/wrapper/program/expectation.h"
#include "worker/wrapper/program/program.h"

namespace telemetry::worker::wrapper {

// All that a program of a plan says, before it is said in a language. Plain data.

// Generated code. One kernel of the plan has several where calls pass it tensors of other strides.
struct ProgramKernel {
  std::string name;  // unique: "softmax", "softmax_strided"
  int kernel = -1;   // of the plan
  codegen::GeneratedKernel generated;
};

struct BufferArgument {
  int buffer = -1;
};
using ProgramArgument = std::variant<BufferArgument, int64_t, float>;

struct ProgramLaunch {
  int kernel = -1;  // in ProgramModel::kernels; -1: the line launches nothing
  int64_t grid = 0;
  std::vector<ProgramArgument> arguments;  // of the generated function, in order
};

struct ProgramModel {
  const Plan* plan = nullptr;  // has to stay
  ProgramOptions options;
  std::vector<ProgramKernel> kernels;
  std::vector<ProgramLaunch> launches;     // by line of the plan
  std::vector<Place> places;               // by buffer
  std::vector<kernels::DrawRange> ranges;  // by input
  std::vector<Expectation> expected;       // by output

  const ProgramKernel& kernel(const ProgramLaunch& launch) const { return kernels[static_cast<size_t>(launch.kernel)]; }
};

// Verifies the plan. Errors are CppProgram's.
absl::StatusOr<ProgramModel> MakeProgramModel(const Plan& plan, const ProgramOptions& options);

// Elements behind a buffer: of its size class, so that what reuses it fits.
int64_t AllocatedElements(const PlanBuffer& buffer);

// The extern kernels that programs compute without this project's code.
enum class ExternKind { kProduct, kLayerNorm };
// UNIMPLEMENTED names another.
absl::StatusOr<ExternKind> ExternKindOf(const PlanKernel& kernel);

// Whether cuBLAS takes the call of a product as its arguments lie.
bool IsForCublas(const Plan& plan, const KernelCall& call);

}  // namespace telemetry::worker::wrapper
