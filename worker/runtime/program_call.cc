#include "worker/runtime/program_call.h"

#include <memory>
#include <utility>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/device/interop.h"
#include "worker/runtime/call_contract.h"
#include "worker/runtime/leaves.h"
#include "worker/runtime/program_tensor.h"

namespace telemetry::worker::runtime {

using device::Interop;

absl::Status RunOnProgramMemory(Kernel& kernel, absl::Span<const Argument> positional, absl::Span<const Tensor> outputs,
                                std::optional<uint64_t> stream) {
  if (!kernel.definition().signature.IsComplete(positional.size())) {
    return absl::InvalidArgumentError(
        record::Cat(kernel.name(), "() is called with ", positional.size(), " arguments, but takes ",
                    kernel.definition().signature.parameters().size(), "; Kernel::Normalize fills in defaults"));
  }
  ASSIGN_OR_RETURN(const std::shared_ptr<device::Device> device, FindDevice(positional));
  ASSIGN_OR_RETURN(Interop* const interop, InteropOf(*device));
  RETURN_IF_ERROR(CheckNoOverlap(CollectLeaves(kernel.definition().signature, positional).tensors, outputs));
  ASSIGN_OR_RETURN(const std::unique_ptr<device::StreamUse> use, interop->UseStream(stream));
  RETURN_IF_ERROR(kernel.RunInto(positional, outputs));
  for (const Tensor& output : outputs) {
    RETURN_IF_ERROR(interop->Publish(output.buffer.get()));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Tensor>> AllocateProgramOutputs(Kernel& kernel, absl::Span<const Argument> positional) {
  ASSIGN_OR_RETURN(const std::shared_ptr<device::Device> device, FindDevice(positional));
  ASSIGN_OR_RETURN(Interop* const interop, InteropOf(*device));
  ASSIGN_OR_RETURN(const std::unique_ptr<device::StreamUse> use, interop->UseStream(std::nullopt));
  ASSIGN_OR_RETURN(const std::shared_ptr<BoundKernel> bound, kernel.Bind(positional));
  const Leaves leaves = CollectLeaves(kernel.definition().signature, positional);
  std::vector<Tensor> outputs;
  for (const ir::HostTensor& tensor : bound->ir().tensors) {
    if (!tensor.is_output) continue;
    ASSIGN_OR_RETURN(Tensor output,
                     AllocateProgramTensor(device, tensor.dtype, CallContract::ComputeSizes(tensor, leaves)));
    outputs.push_back(std::move(output));
  }
  return outputs;
}

}  // namespace telemetry::worker::runtime
