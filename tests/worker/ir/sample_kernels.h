#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "worker/ir/trace.h"

namespace telemetry::worker::ir {

// Small kernels that the tests of traces share.

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

inline Size StaticSize(int64_t value) { return {.text = std::to_string(value), .value = value}; }
inline Size DynamicSize(std::string text, int64_t value) {
  return {.text = std::move(text), .value = value, .is_static = false};
}

// Returns a dense row-major tensor.
inline HostTensor DenseTensor(std::string name, const std::vector<int64_t>& sizes,
                              device::DType dtype = device::DType::kF32) {
  HostTensor tensor{.name = std::move(name), .dtype = dtype};
  int64_t stride = 1;
  for (auto size = sizes.rbegin(); size != sizes.rend(); ++size) {
    tensor.sizes.insert(tensor.sizes.begin(), StaticSize(*size));
    tensor.strides.insert(tensor.strides.begin(), StaticSize(stride));
    stride *= *size;
  }
  return tensor;
}

inline TraceInputs SoftmaxInputs() {
  return {.kernel_name = "softmax", .tensors = {DenseTensor("x", {20, 30}, device::DType::kF16)}};
}

inline void TraceSoftmax(Trace& t) {
  const TensorRef x = t.Tensor("x");
  const TensorRef out = t.OutputLike("out", x);
  const AxisRef m = t.Tile(t.SizeOf(x, 0));
  const AxisRef n = t.ReductionAxis(t.SizeOf(x, 1));
  const Value v = t.Load(x, {m, n}).To(device::DType::kF32);
  const Value e = exp(v - t.AMax(v, n));
  t.Store(out, {m, n}, e / t.Sum(e, n));
}

inline TraceInputs LayerNormInputs() {
  return {.kernel_name = "layer_norm", .tensors = {DenseTensor("x", {20, 30}), DenseTensor("weight", {30})}};
}

// Stores the mean and the normalised values.
inline void TraceLayerNorm(Trace& t) {
  const TensorRef x = t.Tensor("x");
  const TensorRef mean_out = t.Output("mean", {t.SizeOf(x, 0)}, device::DType::kF32);
  const TensorRef out = t.OutputLike("out", x);
  const AxisRef m = t.Tile(t.SizeOf(x, 0));
  const AxisRef n = t.ReductionAxis(t.SizeOf(x, 1));
  const Value v = t.Load(x, {m, n});
  const Value mean = t.Mean(v, n);
  const Value centered = v - mean;
  const Value scale = rsqrt(t.Mean(centered * centered, n) + 1e-5);
  t.Store(mean_out, {m}, mean);
  const Value weight = t.Load(t.Tensor("weight"), {n});
  t.Store(out, {m, n}, centered * scale * weight);
}

inline TraceInputs MatmulInputs() {
  return {
      .kernel_name = "matmul",
      .tensors = {DenseTensor("a", {20, 50}, device::DType::kF16), DenseTensor("b", {50, 30}, device::DType::kF16)}};
}

inline void TraceMatmul(Trace& t) {
  const TensorRef a = t.Tensor("a");
  const TensorRef b = t.Tensor("b");
  const TensorRef out = t.Output("out", {t.SizeOf(a, 0), t.SizeOf(b, 1)}, device::DType::kF16);
  const AxisRef m = t.Tile(t.SizeOf(a, 0));
  const AxisRef n = t.Tile(t.SizeOf(b, 1));
  const Value zero = t.Full({m, n}, 0, device::DType::kF32);
  const auto sums = t.For(t.SizeOf(a, 1), {zero}, [&](AxisRef k, const Trace::Carried& carried) {
    const Value left = t.Load(a, {m, k});
    const Value right = t.Load(b, {k, n});
    return Trace::Carried{t.Dot(left, right, k, carried[0])};
  });
  t.Store(out, {m, n}, sums[0]);
}

inline TraceInputs AttentionInputs() {
  return {.kernel_name = "attention",
          .tensors = {DenseTensor("q", {4, 20, 16}, device::DType::kF16),
                      DenseTensor("k", {4, 30, 16}, device::DType::kF16),
                      DenseTensor("v", {4, 30, 16}, device::DType::kF16)},
          .scalars = {{"scale", device::DType::kF32}}};
}

// Traces an online softmax. The loop captures the tile of q and the scale.
inline void TraceAttention(Trace& t) {
  const TensorRef q = t.Tensor("q");
  const TensorRef k = t.Tensor("k");
  const TensorRef v = t.Tensor("v");
  const TensorRef out = t.OutputLike("out", q);
  const AxisRef b = t.Tile(t.SizeOf(q, 0), 1);
  const AxisRef m = t.Tile(t.SizeOf(q, 1));
  const AxisRef d = t.ReductionAxis(t.SizeOf(q, 2));
  const Value queries = t.Load(q, {b, m, d});
  const Value scale = t.Scalar("scale");
  const Trace::Carried start = {t.Full({b, m}, -kInfinity, device::DType::kF32), t.Full({b, m}, 0, device::DType::kF32),
                                t.Full({b, m, d}, 0, device::DType::kF32)};
  const auto done = t.For(t.SizeOf(k, 1), start, [&](AxisRef n, const Trace::Carried& carried) {
    const Value scores = t.Dot(queries, t.Load(k, {b, n, d}), d) * scale;
    const Value largest = maximum(carried[0], t.AMax(scores, n));
    const Value p = exp(scores - largest);
    const Value alpha = exp(carried[0] - largest);
    const Value sum = carried[1] * alpha + t.Sum(p, n);
    const Value weighted = t.Dot(p.To(device::DType::kF16), t.Load(v, {b, n, d}), n, carried[2] * alpha);
    return Trace::Carried{largest, sum, weighted};
  });
  t.Store(out, {b, m, d}, done[2] / done[1]);
}

}  // namespace telemetry::worker::ir
