#pragma once

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/device/device.h"
#include "worker/ir/host_array.h"
#include "worker/runtime/tensor.h"
#include "worker/wrapper/source_kernel.h"

namespace telemetry::worker::wrapper {

// Checks that a device can compile a kernel. FAILED_PRECONDITION: `device` is null. INVALID_ARGUMENT: it compiles
// another language.
absl::Status CheckLanguage(const SourceKernel& kernel, const device::Device* device);

// The code of a SourceKernel, compiled and loaded on a device. For use by one thread.
class SourceFunction {
 public:
  // Compiles a code of the kernel, which must outlive the function. INVALID_ARGUMENT: the compiler refuses the source.
  // Other errors are those of CheckLanguage() and of the device.
  static absl::StatusOr<std::unique_ptr<SourceFunction>> Create(const std::shared_ptr<device::Device>& device,
                                                                const SourceKernel& kernel, const SourceCode& code);

  // Queues a launch. The tensors are those of SourceKernel::arguments and outputs, on the device. Errors are those of
  // device::Function::Launch().
  absl::Status Launch(absl::Span<const runtime::Tensor> arguments, absl::Span<const runtime::Tensor> outputs);

 private:
  SourceFunction(const SourceKernel& kernel, const device::LaunchShape& shape) : kernel_(kernel), shape_(shape) {}

  const SourceKernel& kernel_;
  const device::LaunchShape shape_;
  std::unique_ptr<device::Module> module_;
  std::unique_ptr<device::Function> function_;
};

// Runs the reference of a kernel on a device with values from the host. All arrays are dense; `outputs` has the values
// before the launch and gets those behind it. Errors are those of CheckLanguage() and SourceFunction.
absl::Status EvaluateReference(const std::shared_ptr<device::Device>& device, const SourceKernel& kernel,
                               absl::Span<const ir::HostArray> arguments, std::vector<ir::HostArray>* outputs);

}  // namespace telemetry::worker::wrapper
