#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "worker/codegen/config.h"
#include "worker/kernels/library.h"
#include "worker/kernels/problem.h"
#include "worker/wrapper/plan_buffer.h"
#include "worker/wrapper/source_kernel.h"

namespace telemetry::worker::wrapper {

// A program of several kernels as structured lines: the launches and the operations around them, before a backend turns
// them into calls or code. Buffers and kernels are identified by their index in the plan. Plain data.

// A kernel for arguments of given sizes and dtypes: the unit that a device binds and compiles once
// (kernel/bound_kernel.h).
struct PlanKernel {
  std::string name;                                 // unique in the plan: "bmm", "bmm_1"
  const kernels::LibraryKernel* library = nullptr;  // never null in a plan
  kernels::Problem problem;                         // its numbers are the flags; scalars belong to the calls
  std::optional<codegen::Config> config;            // unset: the default config
  std::vector<kernels::TensorSpec> outputs;         // dense
  // Set for a kernel that is given as source, whose declaration is `library`. Only CallKernel calls it.
  std::shared_ptr<const SourceKernel> source = nullptr;
};

// The definition of a kernel. It comes before the calls of the kernel.
struct DefineKernel {
  int kernel = -1;
};

// An allocation of new memory, not initialised.
struct Allocate {
  int buffer = -1;
};

// The end of a buffer. Its memory is freed.
struct Free {
  int buffer = -1;
};

// The end of the use of a buffer. Memory planning may give its memory to another buffer; else the memory is freed.
struct FreeIfNotReused {
  int buffer = -1;
};

// A transfer of memory: `to` begins with the memory of `from`, which ends.
struct Reuse {
  int from = -1;
  int to = -1;
};

// A view: `view` shows the memory of `base` from an element on. `base` may be a view too.
struct Reinterpret {
  int view = -1;
  int base = -1;
  int64_t offset = 0;  // in elements, from the first element of `base`
};

// The call of a kernel. Arguments and outputs are buffers, in the order of the kernel.
struct KernelCall {
  int kernel = -1;
  std::vector<int> arguments;
  kernels::Numbers scalars;
  std::vector<int> outputs;
};

// A launch that writes to existing memory.
struct CallKernel {
  KernelCall call;
};

// A call of a kernel in a library (cuBLAS if there is one, else the reference) that writes to existing memory.
struct CallExtern {
  KernelCall call;
};

// A call of a kernel in a library that allocates the outputs. A single output exists after the call. Several outputs
// are a pack; each of them exists once it is unpacked.
struct CallExternAllocating {
  KernelCall call;
  std::string pack;  // empty if there is one output
};

// The output number `index` of a pack, as a buffer.
struct Unpack {
  std::string pack;
  int index = 0;
  int buffer = -1;
};

// Writes rows into a buffer, its first argument: for each i, in order, row indices[i] of `target` becomes row i of
// `values`, or their sum if `accumulate` (index_put.h). A row whose index is out of range is not written.
struct IndexPut {
  int target = -1;   // [n, ...]
  int indices = -1;  // i32[k]
  int values = -1;   // [k, ...]
  bool accumulate = false;
};

// The combination of an element with others that are written to its place. kNone: the last one is kept. kMax and kMin
// give NaN if one of them is NaN. kMean is the mean of the element and of all that are written to its place.
enum class Reduction { kNone, kSum, kProduct, kMax, kMin, kMean };
// Returns the name of PyTorch: "sum", "prod", "amax", "amin" or "mean"; empty for kNone.
std::string_view ReductionName(Reduction reduction);

// Writes elements into a buffer, its first argument. For each element of `indices`, in row-major order: the element of
// `target` at the same index, but with that of `indices` in `dimension`, becomes the element of `values`, or the
// number, or is combined with it (scatter.h). Elements whose index is out of range are not written.
struct Scatter {
  int target = -1;
  int indices = -1;  // i32; not larger than `target`, except in `dimension`
  int values = -1;   // of the sizes of `indices`; -1: a number
  int dimension = 0;
  Reduction reduction = Reduction::kNone;
  double number = 0;  // instead of `values`; a value of the dtype of `target`
};

// Writes tensors one behind the other, along a dimension, to existing memory.
struct Concatenate {
  std::vector<int> tensors;  // 1 to kMostConcatenated (concatenate.h)
  int dimension = 0;
  int output = -1;
};

// The begin of a subgraph: lines with a name. Buffers that the lines make end in the subgraph, and they end no others.
// A subgraph that is not a branch of a conditional always runs.
struct EnterSubgraph {
  std::string name;
};

// The end of the subgraph that was entered last.
struct ExitSubgraph {};

// The begin of a conditional. Its first branch is the subgraph after this line, which runs if the predicate is not 0.
struct If {
  int predicate = -1;  // bool or i32, of one element (subgraphs.h)
};

// The second branch of a conditional, if there is one, is the subgraph after this line. It runs if the predicate is 0.
struct Else {};

// The end of a conditional.
struct EndIf {};

// A comment for readers of the plan.
struct Comment {
  std::string text;
};

using Line = std::variant<DefineKernel, Allocate, Free, FreeIfNotReused, Reuse, Reinterpret, CallKernel, CallExtern,
                          CallExternAllocating, Unpack, IndexPut, Scatter, Concatenate, EnterSubgraph, ExitSubgraph, If,
                          Else, EndIf, Comment>;

// The buffers, kernels and lines of a program.
struct Plan {
  std::string name;
  std::vector<PlanBuffer> buffers;
  std::vector<PlanKernel> kernels;
  std::vector<int> inputs;   // owned by the caller, read only
  std::vector<int> outputs;  // owned by the caller after the last line
  std::vector<Line> lines;
  std::vector<PlanSymbol> symbols = {};  // of PlanBuffer::forms

  const PlanBuffer& buffer(int id) const { return buffers[static_cast<size_t>(id)]; }
  const PlanKernel& kernel(int id) const { return kernels[static_cast<size_t>(id)]; }
  // Returns copies of the buffers.
  std::vector<PlanBuffer> Buffers(const std::vector<int>& ids) const;
  // Returns one line of text per line, for people and golden tests. The plan must be verified (verify_plan.h).
  std::string DebugString() const;
  std::string LineText(const Line& line) const;
  // Returns the name of a line for which IsCall(): that of its kernel, "index_put", "scatter" or "concatenate".
  std::string CallName(const Line& line) const;
};

// The effects of a line on buffers.
struct LineEffects {
  std::vector<int> uses;   // must exist, and stay until after the line
  std::vector<int> makes;  // get memory of their own at this line
  int frees = -1;          // has no memory from the next line on; -1: none
};
LineEffects ComputeEffects(const Line& line);

// Returns the call of a line, or null if the line does not call a kernel.
const KernelCall* AsKernelCall(const Line& line);
// Returns true if the line reads and writes values: the call of a kernel, an update, or a Concatenate.
bool IsCall(const Line& line);

// The buffers of an IndexPut or a Scatter, which writes values at indices.
struct Update {
  int target = -1;
  int indices = -1;
  int values = -1;    // -1: Scatter::number
  int dimension = 0;  // of `target`, to which the indices belong
};
// Returns the buffers of an update, or nullopt if the line is none.
std::optional<Update> AsUpdate(const Line& line);

// Returns the first kernel of the plan that is given as source, or null.
const SourceKernel* FindSourceKernel(const Plan& plan);

// Returns the problem of a kernel with the scalars of a call, and with the defaults of the numbers that the call does
// not give.
kernels::Problem MakeCallProblem(const PlanKernel& kernel, const KernelCall& call);

// The memory of a buffer: the buffer that owns it, which is not a view, and the offset of the first element, in
// elements.
struct Place {
  int root = -1;
  int64_t offset = 0;
};
// Returns the place of each buffer of the plan.
std::vector<Place> ComputePlaces(const Plan& plan);

}  // namespace telemetry::worker::wrapper
