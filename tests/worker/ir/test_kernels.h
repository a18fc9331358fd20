#pragma once

#include <functional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "worker/ir/host_array.h"
#include "worker/ir/trace.h"

namespace telemetry::worker::ir {

// Small handwritten kernels, for tests of the readers of the IR.

// The name, dtype and sizes of a tensor.
struct TensorSpec {
  std::string name;
  device::DType dtype = device::DType::kF32;
  std::vector<int64_t> sizes;
};

// Returns a dense tensor with static sizes and strides.
HostTensor StaticTensor(const TensorSpec& spec);

// Traces `body` over dense tensors of these sizes. If that fails, fails the test and returns an empty IR.
DeviceIr TraceKernel(const std::string& name, const std::vector<TensorSpec>& tensors,
                     const std::function<void(Trace&)>& body, const std::vector<ScalarParameter>& scalars = {});

// x, y [m, n] -> out = x + y * 2
void TraceAdd(Trace& t);
// x [m, n] -> softmax along n
void TraceSoftmax(Trace& t);
// x [m, n], w [n] -> out, mean [m]: normalised along n
void TraceLayerNorm(Trace& t);
// a [b, m, k], b [b, k, n] -> out [b, m, n], a loop over k
void TraceBmm(Trace& t);
// q, k, v [b, s, d] -> out: a loop over s with the online softmax
void TraceAttention(Trace& t);
// x [m], scalar n -> out = (n > 2 ? x * 10 : x - 1) * 2^n + x: a branch, a while loop and a helper function
void TraceControl(Trace& t);

}  // namespace telemetry::worker::ir
