#pragma once

#include <string>
#include <vector>

#include "worker/ir/compare.h"
#include "worker/kernels/library.h"

namespace telemetry::worker::kernels {

// Problems that every kernel of the library has to solve. Made of what a kernel declares, so that a new one is tested
// without a word here.

struct NamedProblem {
  std::string name;  // "ragged_f16_causal1": for test names
  Problem problem;
};

// Every flag both ways.
std::vector<Numbers> FlagsOf(const LibraryKernel& kernel);

// Those of the library that multiply matrices.
std::vector<const LibraryKernel*> KernelsWithDots();

// A shape that no tile divides.
Problem RaggedProblem(const LibraryKernel& kernel, DType dtype, const Numbers& flags = {});

// Ragged, even, long, of size 1 and empty along each dimension; every dtype with the ragged one; every flag both ways.
std::vector<NamedProblem> TestProblems(const LibraryKernel& kernel);

// The worst of all outputs, or "" where all are within the kernel's tolerances.
std::string Mismatch(const LibraryKernel& kernel, const Problem& problem, const Outputs& expected,
                     const Outputs& actual);

}  // namespace telemetry::worker::kernels
