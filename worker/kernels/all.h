#pragma once

#include "worker/kernels/library_kernel.h"

namespace telemetry::worker::kernels {

// The text of a kernel's file identifies the kernel in the dataset. The files use DType without a qualifier; adding one
// would change the identity of every kernel.
using device::DType;

// Return the kernels of the library. Each function is defined in the file of its name; library.cc lists them.
const LibraryKernel& Add();
const LibraryKernel& Attention();
const LibraryKernel& Bmm();
const LibraryKernel& CrossEntropy();
const LibraryKernel& Exp();
const LibraryKernel& Geglu();
const LibraryKernel& LayerNorm();
const LibraryKernel& LongSum();
const LibraryKernel& Matmul();
const LibraryKernel& RmsNorm();
const LibraryKernel& Softmax();
const LibraryKernel& SoftmaxTwoPass();
const LibraryKernel& Sum();

}  // namespace telemetry::worker::kernels
