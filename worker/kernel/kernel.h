#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "worker/kernel/bound_kernel.h"
#include "worker/kernel/compile_cache.h"
#include "worker/kernel/kernel_definition.h"

namespace telemetry::worker {

// A kernel as it is defined, whatever it will be called with, and the BoundKernels that were made of it. Thread-safe:
// for one specialization key and the same extra keys there is one BoundKernel, however many threads ask.
//
//   auto kernel = Kernel::Create({.name = "softmax", .parameters = {{.name = "x"}}, .body = Softmax});
//   auto outputs = (*kernel)->Run({x});
class Kernel {
 public:
  // Errors are Define's.
  static absl::StatusOr<std::unique_ptr<Kernel>> Create(KernelSpec spec);

  const std::string& name() const { return definition_->name; }
  const KernelDefinition& definition() const { return *definition_; }

  // Signature::Normalize.
  absl::StatusOr<Arguments> Normalize(absl::Span<const Argument> positional, const Signature::Named& named = {}) const {
    return definition_->signature.Normalize(positional, named);
  }
  // WriteSpecializationKey of these arguments and the kernel's settings.
  absl::StatusOr<std::string> Key(absl::Span<const Argument> positional, const Signature::Named& named = {}) const;

  // Errors are Normalize's, Key's, FindDevice's (but in reference mode) and BoundKernel::Create's.
  absl::StatusOr<std::shared_ptr<BoundKernel>> Bind(absl::Span<const Argument> positional,
                                                    const Signature::Named& named = {});

  // Binds and runs; see BoundKernel::Run.
  absl::StatusOr<std::vector<Tensor>> Run(absl::Span<const Argument> positional, const Signature::Named& named = {});

  // The same into outputs that the caller keeps, of BoundKernel::AllocateOutputs; see BoundKernel::RunInto.
  absl::Status RunInto(absl::Span<const Argument> positional, absl::Span<const Tensor> outputs,
                       const Signature::Named& named = {});

  // Forgets every BoundKernel and all compiled code. What callers hold goes on working.
  void Reset();

 private:
  // The BoundKernels of one key.
  struct Bindings {
    absl::Mutex mutex;
    std::vector<std::shared_ptr<BoundKernel>> bound ABSL_GUARDED_BY(mutex);

    // Null where none matches.
    std::shared_ptr<BoundKernel> Find(const Leaves& leaves) const ABSL_SHARED_LOCKS_REQUIRED(mutex);
  };
  struct Call;

  explicit Kernel(std::shared_ptr<const KernelDefinition> definition) : definition_(std::move(definition)) {}

  // Normalises, computes the key, binds.
  absl::StatusOr<Call> Prepare(absl::Span<const Argument> positional, const Signature::Named& named);
  absl::StatusOr<std::shared_ptr<BoundKernel>> FindOrTrace(absl::Span<const Argument> arguments, const Leaves& leaves,
                                                           const std::string& key);

  const std::shared_ptr<const KernelDefinition> definition_;

  absl::Mutex mutex_;
  std::shared_ptr<CompileCache> cache_ ABSL_GUARDED_BY(mutex_) = std::make_shared<CompileCache>();
  absl::flat_hash_map<std::string, std::shared_ptr<Bindings>> bindings_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace telemetry::worker
