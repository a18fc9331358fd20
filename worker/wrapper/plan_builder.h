#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/kernels/library.h"
#include "worker/wrapper/lines.h"

namespace telemetry::worker::wrapper {

// A buffer of the plan that is being built. Not valid (-1) after a mistake.
struct BufferRef {
  int id = -1;
};

// Those of a call. One that the kernel does not have is not valid.
class CallOutputs {
 public:
  CallOutputs() = default;
  explicit CallOutputs(std::vector<BufferRef> buffers) : buffers_(std::move(buffers)) {}
  BufferRef operator[](size_t index) const { return index < buffers_.size() ? buffers_[index] : BufferRef(); }

 private:
  std::vector<BufferRef> buffers_;
};

// A kernel of the library by its name (kernels/library.h), or one of its kind, which has to outlive the plan.
class KernelRef {
 public:
  KernelRef(const char* name) : name_(name) {}                           // NOLINT(google-explicit-constructor)
  KernelRef(std::string name) : name_(std::move(name)) {}                // NOLINT(google-explicit-constructor)
  KernelRef(const kernels::LibraryKernel& kernel) : kernel_(&kernel) {}  // NOLINT(google-explicit-constructor)
  // NOT_FOUND is FindKernel's.
  absl::StatusOr<const kernels::LibraryKernel*> Find() const {
    if (kernel_ != nullptr) return kernel_;
    return kernels::FindKernel(name_);
  }

 private:
  std::string name_;
  const kernels::LibraryKernel* kernel_ = nullptr;
};

// Beside the tensors of a call.
struct CallOptions {
  std::vector<std::string> names = {};  // of the buffers that are made for the outputs; none: "buf0" and on
  std::vector<BufferRef> into = {};     // dense buffers to write instead of making some
  kernels::Numbers numbers = {};        // scalars and flags that differ from the kernel's defaults
  std::optional<codegen::Config> config = std::nullopt;
};

// Writes down a plan, line by line. For one thread.
//
//   PlanBuilder b("attention");
//   BufferRef scores = b.Call("bmm", {q, k})[0];
//   BufferRef rows = b.View(scores, {128, 64}, {64, 1}, 0);
//   b.Output(b.Call("softmax", {rows})[0]);
//   absl::StatusOr<Plan> plan = b.Finish();
//
// A mistake is the error that Finish returns, INVALID_ARGUMENT with kernel, argument and both values: an unknown
// kernel, buffer or number, a use after the free, a dtype or shape that the kernel does not take. What is built on it
// is not valid either.
class PlanBuilder {
 public:
  explicit PlanBuilder(std::string name) { plan_.name = std::move(name); }

  // Of the caller, never written. Without strides: dense.
  BufferRef Input(const std::string& name, DType dtype, std::vector<int64_t> sizes, std::vector<int64_t> strides = {});
  // Dense memory, not initialised. An empty name: "buf0" and on.
  BufferRef Allocate(const std::string& name, DType dtype, std::vector<int64_t> sizes);
  BufferRef View(BufferRef base, std::vector<int64_t> sizes, std::vector<int64_t> strides, int64_t offset,
                 const std::string& name = "");

  // A launch, into buffers that are made for it or into those of `into`.
  CallOutputs Call(const KernelRef& kernel, const std::vector<BufferRef>& arguments, const CallOptions& options = {});
  // The same computed by an external library, into memory of the plan, or of its own: then `into` has to be empty.
  CallOutputs CallExtern(const KernelRef& kernel, const std::vector<BufferRef>& arguments,
                         const CallOptions& options = {});
  CallOutputs CallExternAllocating(const KernelRef& kernel, const std::vector<BufferRef>& arguments,
                                   const CallOptions& options = {});

  // Now, whatever comes; or when memory planning thinks best. What is neither freed nor given out is released at the
  // end.
  void Free(BufferRef buffer);
  void Release(BufferRef buffer);
  void Comment(std::string text);
  // What the plan gives out: a buffer that was made, or a view of one; not freed.
  void Output(BufferRef buffer);

  // Releases what is left and verifies. The first error, if there was one. Once.
  absl::StatusOr<Plan> Finish();

 private:
  enum class CallKind { kKernel, kExtern, kExternAllocating };

  void Fail(absl::Status status);
  bool failed() const { return !error_.ok(); }
  // Why the buffer cannot be used; empty where it can.
  std::string WhyNot(BufferRef buffer) const;
  BufferRef AddBuffer(PlanBuffer buffer);
  CallOutputs Record(CallKind kind, const KernelRef& kernel, const std::vector<BufferRef>& arguments,
                     const CallOptions& options);
  // Fills in a call, its kernel defined and its outputs there. Errors are for Fail.
  absl::Status Prepare(CallKind kind, const kernels::LibraryKernel& kernel, const std::vector<BufferRef>& arguments,
                       const CallOptions& options, KernelCall* call);
  absl::Status CheckArguments(const kernels::LibraryKernel& kernel, const std::vector<BufferRef>& arguments) const;
  absl::Status TakeOutputs(const CallOptions& options, KernelCall* call);
  absl::Status MakeOutputs(CallKind kind, const CallOptions& options, KernelCall* call);
  // With the lines that unpack what it returns.
  void AddAllocatingCall(KernelCall call);
  std::string WhyNotWritten(const kernels::TensorSpec& output, const KernelCall& call, BufferRef buffer) const;
  // The index of a kernel like this one, defined now where there was none.
  int Define(PlanKernel kernel);
  void End(BufferRef buffer, bool may_be_reused);

  Plan plan_;
  absl::Status error_;
  std::vector<int> roots_;  // by buffer: where its memory is
  std::vector<bool> is_input_;
  std::vector<bool> is_ended_;  // freed or released
  std::map<std::string, int, std::less<>> names_;
  int next_buffer_ = 0;
  int next_pack_ = 0;
};

}  // namespace telemetry::worker::wrapper
