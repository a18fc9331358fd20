#pragma once

#include <cstdint>
#include <string>

#include "tests/worker/codegen/kernel_case.h"

namespace telemetry::worker::codegen {

// Kernels with dots in loops, dense.

// a[m, k] * b[k, n], a block of k after the other.
void Matmul(ir::Trace& t);
KernelCase MatmulCase(DType dtype, int64_t m, int64_t n, int64_t k);
// softmax(q[batch, m, d] * k[batch, n, d]) * v[batch, n, d], a block of n after the other.
KernelCase AttentionCase(DType dtype, int64_t batch, int64_t m, int64_t n, int64_t d);

// Its CUDA C++; empty, and the test fails, where none is made.
std::string CudaSource(const KernelCase& kernel, const std::string& config, const GenerateOptions& options = {},
                       int sm = 80);

}  // namespace telemetry::worker::codegen
