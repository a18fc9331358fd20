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
#include "worker/runtime/bound_kernel.h"
#include "worker/runtime/compile_cache.h"
#include "worker/runtime/kernel_definition.h"

namespace telemetry::worker::runtime {

// A kernel's definition and the BoundKernels created from it. Thread-safe: there is one BoundKernel per specialization
// key and extra keys, even if several threads call Bind at the same time.
//
//   auto kernel = Kernel::Create({.name = "softmax", .parameters = {{.name = "x"}}, .body = Softmax});
//   auto outputs = (*kernel)->Run({x});
class Kernel {
 public:
  // Returns the errors of Define.
  static absl::StatusOr<std::unique_ptr<Kernel>> Create(KernelSpec spec);

  const std::string& name() const { return definition_->name; }
  const KernelDefinition& definition() const { return *definition_; }

  // See Signature::Normalize.
  absl::StatusOr<Arguments> Normalize(absl::Span<const Argument> positional, const Signature::Named& named = {}) const {
    return definition_->signature.Normalize(positional, named);
  }
  // Returns the SpecializationKey of these arguments with the kernel's settings.
  absl::StatusOr<std::string> Key(absl::Span<const Argument> positional, const Signature::Named& named = {}) const;

  // Returns the errors of Normalize, Key, FindDevice (not in reference mode) and BoundKernel::Create.
  absl::StatusOr<std::shared_ptr<BoundKernel>> Bind(absl::Span<const Argument> positional,
                                                    const Signature::Named& named = {});

  // Binds and runs the kernel; see BoundKernel::Run.
  absl::StatusOr<std::vector<Tensor>> Run(absl::Span<const Argument> positional, const Signature::Named& named = {});

  // Runs the kernel into outputs that the caller owns; see BoundKernel::RunInto. For memory and streams of the calling
  // program: program_call.h.
  absl::Status RunInto(absl::Span<const Argument> positional, absl::Span<const Tensor> outputs,
                       const Signature::Named& named = {});

  // Removes all BoundKernels and all compiled code. BoundKernels that callers hold continue to work.
  void Reset();

 private:
  // The BoundKernels of one key.
  struct Bindings {
    absl::Mutex mutex;
    std::vector<std::shared_ptr<BoundKernel>> bound ABSL_GUARDED_BY(mutex);

    // Returns null if none matches.
    std::shared_ptr<BoundKernel> Find(const Leaves& leaves) const ABSL_SHARED_LOCKS_REQUIRED(mutex);
  };
  struct Call;

  explicit Kernel(std::shared_ptr<const KernelDefinition> definition) : definition_(std::move(definition)) {}

  // Normalises the arguments, computes the key and binds.
  absl::StatusOr<Call> Prepare(absl::Span<const Argument> positional, const Signature::Named& named);
  absl::StatusOr<std::shared_ptr<BoundKernel>> FindOrTrace(absl::Span<const Argument> arguments, const Leaves& leaves,
                                                           const std::string& key);

  const std::shared_ptr<const KernelDefinition> definition_;

  absl::Mutex mutex_;
  std::shared_ptr<CompileCache> cache_ ABSL_GUARDED_BY(mutex_) = std::make_shared<CompileCache>();
  absl::flat_hash_map<std::string, std::shared_ptr<Bindings>> bindings_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace telemetry::worker::runtime
