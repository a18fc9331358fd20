#pragma once

#include <string>
#include <vector>

#include "worker/ir/compare.h"
#include "worker/kernels/library.h"

namespace telemetry::worker::kernels {

// Problems that every kernel of the library must solve. They are derived from the declarations of a kernel, so a new
// kernel is tested without changes here.

// A problem and its name.
struct NamedProblem {
  std::string name;  // "ragged_f16_causal1": for test names
  Problem problem;
};

// Returns all combinations of the values of the kernel's flags.
std::vector<Numbers> FlagCombinations(const LibraryKernel& kernel);

// Returns the kernels of the library that have dots.
std::vector<const LibraryKernel*> KernelsWithDots();

// Returns a problem whose shape is not a multiple of any tile.
Problem RaggedProblem(const LibraryKernel& kernel, device::DType dtype, const Numbers& flags = {});

// Returns problems with ragged and even shapes, and with each dimension in turn long, of size 1 and empty. The ragged
// shape is used with every dtype, and every problem with every combination of flags.
std::vector<NamedProblem> TestProblems(const LibraryKernel& kernel);

// Returns a report on the outputs that exceed the kernel's tolerances, or "" if there are none.
std::string Mismatch(const LibraryKernel& kernel, const Problem& problem, const Outputs& expected,
                     const Outputs& actual);

}  // namespace telemetry::worker::kernels
