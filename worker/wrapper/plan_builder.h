#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/kernels/library.h"
#include "worker/wrapper/kernel_for.h"
#include "worker/wrapper/lines.h"

namespace telemetry::worker::wrapper {

// A buffer of the plan that is being built. -1 (invalid) after a mistake.
struct BufferRef {
  int id = -1;
};

// The output buffers of a call. An output that the kernel does not have is an invalid BufferRef.
class CallOutputs {
 public:
  CallOutputs() = default;
  explicit CallOutputs(std::vector<BufferRef> buffers) : buffers_(std::move(buffers)) {}
  BufferRef operator[](size_t index) const { return index < buffers_.size() ? buffers_[index] : BufferRef(); }

 private:
  std::vector<BufferRef> buffers_;
};

// A kernel of the library by its name (kernels/library.h), or a kernel of the same type, which must outlive the plan.
class KernelRef {
 public:
  KernelRef(const char* name) : name_(name) {}                           // NOLINT(google-explicit-constructor)
  KernelRef(std::string name) : name_(std::move(name)) {}                // NOLINT(google-explicit-constructor)
  KernelRef(const kernels::LibraryKernel& kernel) : kernel_(&kernel) {}  // NOLINT(google-explicit-constructor)
  // Returns the kernel. NOT_FOUND: FindKernel() does not know the name.
  absl::StatusOr<const kernels::LibraryKernel*> Find() const {
    if (kernel_ != nullptr) return kernel_;
    return kernels::FindKernel(name_);
  }

 private:
  std::string name_;
  const kernels::LibraryKernel* kernel_ = nullptr;
};

// The options of a call besides its tensors.
struct CallOptions {
  std::vector<std::string> names = {};  // of the buffers that are made for the outputs; empty: "buf0", "buf1", ...
  std::vector<BufferRef> into = {};     // existing dense buffers to write; empty: makes new ones
  kernels::Numbers numbers = {};        // scalars and flags that differ from the kernel's defaults
  std::optional<codegen::Config> config = std::nullopt;
};

// A builder of a plan, line by line. For use by one thread.
//
//   PlanBuilder b("attention");
//   BufferRef scores = b.Call("bmm", {q, k})[0];
//   BufferRef rows = b.View(scores, {128, 64}, {64, 1}, 0);
//   b.Output(b.Call("softmax", {rows})[0]);
//   absl::StatusOr<Plan> plan = b.Finish();
//
// Finish() returns the first mistake. It is INVALID_ARGUMENT with kernel, argument and both values for an unknown
// buffer or number, a use after the free, or a dtype or shape that the kernel does not accept. An unknown kernel is
// NOT_FOUND. Buffers that are built on a mistake are invalid as well.
class PlanBuilder {
 public:
  explicit PlanBuilder(std::string name) { plan_.name = std::move(name); }

  // Adds a buffer of the caller, which the plan never writes. Without strides it is dense.
  BufferRef Input(const std::string& name, device::DType dtype, std::vector<int64_t> sizes,
                  std::vector<int64_t> strides = {});
  // Allocates dense memory, not initialised. An empty name becomes "buf0", "buf1", ...
  BufferRef Allocate(const std::string& name, device::DType dtype, std::vector<int64_t> sizes);
  // Adds a view that shows the memory of `base` from element `offset` on.
  BufferRef View(BufferRef base, std::vector<int64_t> sizes, std::vector<int64_t> strides, int64_t offset,
                 const std::string& name = "");

  // Declares the sizes of a buffer of Input(), Allocate() or View() for all values of the symbols. Without a
  // declaration they are constants. Sizes of the outputs of calls follow from those of the arguments.
  void SetForms(BufferRef buffer, std::vector<SizeForm> forms);
  // Sets the symbols of these forms.
  void SetSymbols(std::vector<PlanSymbol> symbols) { plan_.symbols = std::move(symbols); }

  // Launches a kernel. It writes to new buffers, or to those of `into`.
  CallOutputs Call(const KernelRef& kernel, const std::vector<BufferRef>& arguments, const CallOptions& options = {});
  // Calls a kernel of an external library. CallExtern writes to memory of the plan. With CallExternAllocating the
  // library allocates the outputs; `into` must be empty.
  CallOutputs CallExtern(const KernelRef& kernel, const std::vector<BufferRef>& arguments,
                         const CallOptions& options = {});
  CallOutputs CallExternAllocating(const KernelRef& kernel, const std::vector<BufferRef>& arguments,
                                   const CallOptions& options = {});

  // Launches a kernel that is given as source. Its tensors are `arguments`, those that it only reads, and new buffers
  // of one dimension or those of `into`, those that it writes. Outputs that it also reads must be in `into`. Numbers
  // and config of `options` must be empty.
  CallOutputs CallSource(std::shared_ptr<const SourceKernel> kernel, const std::vector<BufferRef>& arguments,
                         const CallOptions& options = {});

  // Writes rows of a buffer that the plan made, not a view: row indices[i] of `target` becomes row i of `values`, or,
  // if `accumulate`, their sum. `target` shares no memory with `indices` and `values`.
  void IndexPut(BufferRef target, BufferRef indices, BufferRef values, bool accumulate = false);

  // Writes elements of a buffer that the plan made, not a view (Scatter in lines.h; the shapes: scatter.h). `target`
  // shares no memory with `indices` and `values`.
  void Scatter(BufferRef target, int dimension, BufferRef indices, BufferRef values,
               Reduction reduction = Reduction::kNone);
  // The same with one number for all indices. It is rounded to the dtype of `target`, where it must be finite.
  void Scatter(BufferRef target, int dimension, BufferRef indices, double number,
               Reduction reduction = Reduction::kNone);

  // Writes tensors one behind the other along a dimension (concatenate.h): to a new buffer, or to that of
  // `options.into`. Numbers and config of `options` must be empty.
  BufferRef Concatenate(const std::vector<BufferRef>& tensors, int dimension, const CallOptions& options = {});

  // Begins a conditional with its first branch. The lines up to Else() or EndIf() run if the predicate is not 0: a bool
  // or i32 buffer of one element. Branches write to buffers that were made before (`into`, IndexPut). Buffers that they
  // make end with the branch; they cannot end other buffers, or be outputs. An empty name becomes "then_0", "else_0",
  // ...
  void If(BufferRef predicate, const std::string& name = "");
  void Else(const std::string& name = "");
  void EndIf();
  // Begin and end a subgraph that always runs. For its buffers the rules of branches hold. An empty name becomes
  // "subgraph_0", ... At most kMostSubgraphDepth subgraphs and branches can be nested.
  void EnterSubgraph(const std::string& name = "");
  void ExitSubgraph();

  // Ends a buffer: Free at this line, Release when memory planning decides. Finish() releases the buffers that are
  // neither freed nor outputs; the end of a subgraph releases those that the subgraph made.
  void Free(BufferRef buffer);
  void Release(BufferRef buffer);
  void Comment(std::string text);
  // Makes a buffer an output of the plan: a buffer that the plan made, or a view of one. It must not be freed.
  void Output(BufferRef buffer);

  // Returns the first mistake so far.
  const absl::Status& status() const { return error_; }

  // Releases the remaining buffers and verifies the plan. Returns the first error, if there was one. Must be called
  // once.
  absl::StatusOr<Plan> Finish();

 private:
  enum class CallKind { kKernel, kExtern, kExternAllocating };
  // A subgraph that is open.
  struct Scope {
    std::string name;
    size_t first_line = 0;  // EnterSubgraph, or, of a branch, If
    int conditional = -1;   // of a branch: its number in the plan
    bool is_else = false;
  };

  void Fail(absl::Status status);
  bool failed() const { return !error_.ok(); }
  // Returns the reason why the buffer cannot be used; empty if it can.
  std::string WhyNot(BufferRef buffer) const;
  // Returns the reason why one of the buffers cannot be used.
  std::string WhyNotThere(absl::Span<const BufferRef> buffers) const;
  BufferRef AddBuffer(PlanBuffer buffer);
  CallOutputs Record(CallKind kind, const KernelRef& kernel, const std::vector<BufferRef>& arguments,
                     const CallOptions& options);
  // Fills in a call: defines its kernel and makes or checks its outputs. The caller passes an error to Fail().
  absl::Status Prepare(CallKind kind, const kernels::LibraryKernel& kernel, const std::vector<BufferRef>& arguments,
                       const CallOptions& options, KernelCall* call);
  absl::Status PrepareSource(std::shared_ptr<const SourceKernel> kernel, const std::vector<BufferRef>& arguments,
                             const CallOptions& options, KernelCall* call);
  // Returns the tensors that a call writes, with the sizes of `into` if it is given.
  absl::StatusOr<std::vector<kernels::TensorSpec>> SourceOutputs(const SourceKernel& kernel,
                                                                 const CallOptions& options) const;
  absl::Status CheckArguments(const kernels::LibraryKernel& kernel, const std::vector<BufferRef>& arguments) const;
  absl::Status TakeOutputs(const CallOptions& options, KernelCall* call);
  absl::Status MakeOutputs(CallKind kind, const CallOptions& options, const OutputForms& forms, KernelCall* call);
  // Appends the call and the lines that unpack its outputs.
  void AddAllocatingCall(KernelCall call);
  // Returns the reason why the call cannot write the output to the buffer; empty if it can.
  std::string WhyNotWritten(const kernels::TensorSpec& output, const KernelCall& call, BufferRef buffer) const;
  // Returns the index of an equal kernel of the plan, which is defined first if there is none.
  int Define(PlanKernel kernel);
  void End(BufferRef buffer, bool may_be_reused);
  // Returns the reason why values cannot be written to `target`, besides its layout; empty if they can.
  std::string WhyNotUpdated(BufferRef target, absl::Span<const BufferRef> read) const;
  void Enter(Scope scope);
  // Releases the buffers that the innermost subgraph made, and leaves it.
  void Leave();
  // Leaves a branch for `line`. Returns its scope, or nullopt after a mistake.
  std::optional<Scope> LeaveBranch(std::string_view line);

  Plan plan_;
  absl::Status error_;
  std::vector<int> roots_;  // by buffer: the buffer that owns its memory
  std::vector<bool> is_input_;
  std::vector<bool> is_ended_;          // freed or released
  std::vector<size_t> depths_;          // by buffer: the number of subgraphs around it
  std::vector<std::string> subgraphs_;  // by buffer: the subgraph whose end ended it; empty: none
  std::vector<Scope> scopes_;           // from the outside in
  std::map<std::string, int, std::less<>> names_;
  int next_buffer_ = 0;
  int next_pack_ = 0;
  int next_conditional_ = 0;
  int next_subgraph_ = 0;
};

}  // namespace telemetry::worker::wrapper
