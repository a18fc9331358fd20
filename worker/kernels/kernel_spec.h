#pragma once

#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "worker/device/device.h"
#include "worker/kernels/library_kernel.h"
#include "worker/runtime/argument.h"
#include "worker/runtime/kernel_definition.h"

namespace telemetry::worker::kernels {

// Returns a library kernel as an argument of Kernel::Create: its tensors, then its numbers with their defaults. The
// caller adds settings and configs.
runtime::KernelSpec MakeKernelSpec(const LibraryKernel& kernel);

// Returns the arguments of a case after copying its tensors, with their strides, to the device. Returns the device's
// errors.
absl::StatusOr<runtime::Arguments> ArgumentsOn(const std::shared_ptr<device::Device>& device,
                                               const LibraryKernel& kernel, const Case& made);

// Returns the arguments of a problem, with dense tensors that are described as being on the device (DescribeOnDevice).
runtime::Arguments DescribedArguments(const std::shared_ptr<device::Device>& device, const LibraryKernel& kernel,
                                      const Problem& problem);

// Returns the arguments of a case with the tensors' memory on the host.
runtime::Arguments ArgumentsOnHost(const LibraryKernel& kernel, Case made);

// Returns the text of the file that defines the kernel, as it was when this program was built, or "" for an unknown
// name. The text identifies the kernel in the dataset.
std::string_view SourceText(std::string_view kernel_name);

}  // namespace telemetry::worker::kernels
