#pragma once

#include <cstdint>
#include <string>

#include "tests/worker/codegen/kernel_case.h"

namespace telemetry::worker::codegen {

// Kernels with dots in loops, on dense tensors.

// Traces out = a[m, k] * b[k, n], in a loop over blocks of k.
void Matmul(ir::Trace& t);
KernelCase MatmulCase(device::DType dtype, int64_t m, int64_t n, int64_t k);
// Returns the kernel softmax(q[batch, m, d] * k[batch, n, d]) * v[batch, n, d], in a loop over blocks of n.
KernelCase AttentionCase(device::DType dtype, int64_t batch, int64_t m, int64_t n, int64_t d);
// Returns a kernel with two dots of plain loads in a loop: the sums of the first are the rows of the second.
KernelCase DotOfDotCase(device::DType dtype);

// Returns the kernel's CUDA C++. Fails the test and returns "" if the kernel cannot be generated.
std::string CudaSource(const KernelCase& kernel, const std::string& config, const GenerateOptions& options = {},
                       int sm = 80);

}  // namespace telemetry::worker::codegen
