#pragma once

#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "worker/device/device.h"
#include "worker/kernel/argument.h"
#include "worker/kernel/kernel_definition.h"
#include "worker/kernels/library.h"

namespace telemetry::worker::kernels {

// A library kernel as Kernel::Create takes it: tensors, then numbers with their defaults. Settings and configs are the
// caller's to add.
KernelSpec SpecOf(const LibraryKernel& kernel);

// The arguments of a case, its tensors copied to the device with their strides. Errors are the device's.
absl::StatusOr<Arguments> ArgumentsOn(const std::shared_ptr<Device>& device, const LibraryKernel& kernel,
                                      const Case& made);

// The file that defines the kernel, as it was when this program was built: what identifies a kernel in the dataset.
std::string_view SourceText(std::string_view kernel_name);

}  // namespace telemetry::worker::kernels
