#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "worker/codegen/config.h"
#include "worker/kernels/library.h"
#include "worker/kernels/problem.h"
#include "worker/wrapper/plan_buffer.h"

namespace telemetry::worker::wrapper {

// A program of several kernels as structured lines: what happens around the launches, before any backend has turned it
// into calls or code. Buffers and kernels are known by their index in the plan. Plain data.

// A kernel for arguments of these sizes and dtypes: what a device binds and compiles once (kernel/bound_kernel.h).
struct PlanKernel {
  std::string name;                                 // unique in the plan: "bmm", "bmm_1"
  const kernels::LibraryKernel* library = nullptr;  // never null in a plan
  kernels::Problem problem;                         // its numbers are the flags; scalars belong to the calls
  std::optional<codegen::Config> config;            // none: the default one
  std::vector<kernels::TensorSpec> outputs;         // dense
};

struct DefineKernel {
  int kernel = -1;
};

// New memory, not initialised.
struct Allocate {
  int buffer = -1;
};

struct Free {
  int buffer = -1;
};

// Nobody needs the buffer any more. Memory planning may give its memory to another; else it is freed.
struct FreeIfNotReused {
  int buffer = -1;
};

// `to` begins with the memory of `from`, which ends.
struct Reuse {
  int from = -1;
  int to = -1;
};

// `view` shows the memory of `base` from an element on, which its own memory need not begin with.
struct Reinterpret {
  int view = -1;
  int base = -1;
  int64_t offset = 0;  // in elements, from the first of `base`
};

// Arguments and outputs are buffers in the kernel's order.
struct KernelCall {
  int kernel = -1;
  std::vector<int> arguments;
  kernels::Numbers scalars;
  std::vector<int> outputs;
};

// A launch into memory that is there.
struct CallKernel {
  KernelCall call;
};

// A kernel out of a library (cuBLAS where there is one, else the reference), into memory that is there.
struct CallExtern {
  KernelCall call;
};

// The same by a library that allocates what it returns. One output is there at once; several are a pack, whose parts
// are there once they are unpacked.
struct CallExternAllocating {
  KernelCall call;
  std::string pack;  // empty where there is one output
};

struct Unpack {
  std::string pack;
  int index = 0;
  int buffer = -1;
};

struct Comment {
  std::string text;
};

using Line = std::variant<DefineKernel, Allocate, Free, FreeIfNotReused, Reuse, Reinterpret, CallKernel, CallExtern,
                          CallExternAllocating, Unpack, Comment>;

struct Plan {
  std::string name;
  std::vector<PlanBuffer> buffers;
  std::vector<PlanKernel> kernels;
  std::vector<int> inputs;   // the caller's, read only
  std::vector<int> outputs;  // the caller's after the last line
  std::vector<Line> lines;

  const PlanBuffer& buffer(int id) const { return buffers[static_cast<size_t>(id)]; }
  const PlanKernel& kernel(int id) const { return kernels[static_cast<size_t>(id)]; }
  // One line of text for each line, for people and golden tests. The plan has to be verified (verify_plan.h).
  std::string DebugString() const;
  std::string LineText(const Line& line) const;
};

// What a line does to buffers.
struct LineEffects {
  std::vector<int> uses;   // have to be there, and stay until after the line
  std::vector<int> makes;  // have memory of their own from this line on
  int frees = -1;          // has none from the next line on
};
LineEffects EffectsOf(const Line& line);

// The call of a line; null where it is none.
const KernelCall* CallOf(const Line& line);

// A kernel's problem with a call's scalars, and the defaults of what it does not say.
kernels::Problem ProblemOf(const PlanKernel& kernel, const KernelCall& call);

// Where a buffer's memory is: in a buffer that is no view, from an element on. Of each buffer of the plan.
struct Place {
  int root = -1;
  int64_t offset = 0;
};
std::vector<Place> PlacesOf(const Plan& plan);

}  // namespace telemetry::worker::wrapper
