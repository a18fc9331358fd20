#include "worker/runtime/kernel.h"

#include <utility>

#include "proto/base/status_macros.h"
#include "worker/runtime/specialization_key.h"

namespace telemetry::worker::runtime {

using device::Device;

// The arguments of a call and its BoundKernel. `leaves` points into `arguments`.
struct Kernel::Call {
  Arguments completed;  // used if the caller's arguments were not complete
  absl::Span<const Argument> arguments;
  Leaves leaves;
  std::shared_ptr<BoundKernel> bound;
};

absl::StatusOr<std::unique_ptr<Kernel>> Kernel::Create(KernelSpec spec) {
  ASSIGN_OR_RETURN(std::shared_ptr<const KernelDefinition> definition, Define(std::move(spec)));
  return std::unique_ptr<Kernel>(new Kernel(std::move(definition)));
}

absl::StatusOr<std::string> Kernel::Key(absl::Span<const Argument> positional, const Signature::Named& named) const {
  ASSIGN_OR_RETURN(Arguments arguments, Normalize(positional, named));
  return SpecializationKey(definition_->signature, arguments, definition_->settings.static_shapes);
}

std::shared_ptr<BoundKernel> Kernel::Bindings::Find(const Leaves& leaves) const {
  for (const std::shared_ptr<BoundKernel>& candidate : bound) {
    if (candidate->extra_keys().Match(leaves)) return candidate;
  }
  return nullptr;
}

absl::StatusOr<std::shared_ptr<BoundKernel>> Kernel::FindOrTrace(absl::Span<const Argument> arguments,
                                                                 const Leaves& leaves, const std::string& key) {
  std::shared_ptr<Bindings> bindings;
  std::shared_ptr<CompileCache> cache;
  {
    const absl::MutexLock lock(&mutex_);
    std::shared_ptr<Bindings>& entry = bindings_[key];
    if (entry == nullptr) entry = std::make_shared<Bindings>();
    bindings = entry;
    cache = cache_;
  }
  // Traces under the lock of this key only. Calls with the same key wait; calls with other keys do not.
  const absl::MutexLock lock(&bindings->mutex);
  if (std::shared_ptr<BoundKernel> found = bindings->Find(leaves); found != nullptr) return found;
  std::shared_ptr<Device> device;
  if (!definition_->settings.reference_mode) {
    ASSIGN_OR_RETURN(std::shared_ptr<Device> found, FindDevice(arguments));
    device = std::move(found);
  }
  absl::StatusOr<std::shared_ptr<BoundKernel>> bound =
      BoundKernel::Create(definition_, key, arguments, std::move(device), std::move(cache));
  if (bound.ok()) bindings->bound.push_back(*bound);
  return bound;
}

absl::StatusOr<Kernel::Call> Kernel::Prepare(absl::Span<const Argument> positional, const Signature::Named& named) {
  Call call{.arguments = positional};
  const Signature& signature = definition_->signature;
  if (signature.IsComplete(positional.size()) && named.empty()) {
    RETURN_IF_ERROR(signature.Check(positional));
  } else {
    ASSIGN_OR_RETURN(Arguments completed, signature.Normalize(positional, named));
    call.completed = std::move(completed);
    call.arguments = call.completed;
  }
  // Reused by later calls, so that a call of a known kernel allocates nothing.
  static thread_local std::string key;
  RETURN_IF_ERROR(WriteSpecializationKey(signature, call.arguments, definition_->settings.static_shapes, &key));
  call.leaves = CollectLeaves(signature, call.arguments);
  ASSIGN_OR_RETURN(std::shared_ptr<BoundKernel> bound, FindOrTrace(call.arguments, call.leaves, key));
  call.bound = std::move(bound);
  return call;
}

absl::StatusOr<std::shared_ptr<BoundKernel>> Kernel::Bind(absl::Span<const Argument> positional,
                                                          const Signature::Named& named) {
  ASSIGN_OR_RETURN(Call call, Prepare(positional, named));
  return std::move(call.bound);
}

absl::StatusOr<std::vector<Tensor>> Kernel::Run(absl::Span<const Argument> positional, const Signature::Named& named) {
  ASSIGN_OR_RETURN(Call call, Prepare(positional, named));
  RETURN_IF_ERROR(call.bound->contract_.CheckExtents(call.leaves));
  return call.bound->RunMatched(call.arguments, call.leaves);
}

absl::Status Kernel::RunInto(absl::Span<const Argument> positional, absl::Span<const Tensor> outputs,
                             const Signature::Named& named) {
  ASSIGN_OR_RETURN(Call call, Prepare(positional, named));
  RETURN_IF_ERROR(call.bound->contract_.CheckExtents(call.leaves));
  return call.bound->RunMatchedInto(call.arguments, call.leaves, outputs);
}

void Kernel::Reset() {
  const absl::MutexLock lock(&mutex_);
  bindings_.clear();
  cache_ = std::make_shared<CompileCache>();
}

}  // namespace telemetry::worker::runtime
