#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/kernels/library_kernel.h"

namespace telemetry::worker::kernels {

// Returns all kernels, sorted by name.
absl::Span<const LibraryKernel* const> AllKernels();

// Returns the kernel of this name. NOT_FOUND if there is none; the message suggests the nearest name and lists all
// names.
absl::StatusOr<const LibraryKernel*> FindKernel(std::string_view name);

}  // namespace telemetry::worker::kernels
