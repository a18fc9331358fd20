#pragma once

#include <functional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "worker/ir/host_array.h"
#include "worker/ir/trace.h"

namespace telemetry::worker::ir {

// Small kernels by hand, for tests of what reads the IR.

struct TensorSpec {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<int64_t> sizes;
};

// Sizes and strides as numbers, dense.
HostTensor StaticTensor(const TensorSpec& spec);

// Traces `body` over dense tensors of these sizes; a test failure and an empty IR when that fails.
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
