#include "tests/worker/ir/test_kernels.h"

#include <limits>
#include <utility>

namespace telemetry::worker::ir {
namespace {

using device::DType;

Size Static(int64_t value) { return {.text = std::to_string(value), .value = value}; }

}  // namespace

HostTensor StaticTensor(const TensorSpec& spec) {
  HostTensor tensor = {.name = spec.name, .dtype = spec.dtype};
  for (const int64_t size : spec.sizes) tensor.sizes.push_back(Static(size));
  for (const int64_t stride : RowMajorStrides(spec.sizes)) tensor.strides.push_back(Static(stride));
  return tensor;
}

DeviceIr TraceKernel(const std::string& name, const std::vector<TensorSpec>& tensors,
                     const std::function<void(Trace&)>& body, const std::vector<ScalarParameter>& scalars) {
  TraceInputs inputs = {.kernel_name = name, .scalars = scalars};
  for (const TensorSpec& spec : tensors) inputs.tensors.push_back(StaticTensor(spec));
  Trace trace(std::move(inputs));
  body(trace);
  absl::StatusOr<DeviceIr> ir = trace.Finish();
  EXPECT_TRUE(ir.ok()) << name << ": " << ir.status();
  return ir.ok() ? *std::move(ir) : DeviceIr();
}

void TraceAdd(Trace& t) {
  const TensorRef x = t.Tensor("x");
  const TensorRef out = t.OutputLike("out", x);
  const AxisRef m = t.Tile(t.SizeOf(x, 0));
  const AxisRef n = t.Tile(t.SizeOf(x, 1));
  const Value left = t.Load(x, {m, n});
  const Value right = t.Load(t.Tensor("y"), {m, n});
  t.Store(out, {m, n}, left + right * 2);
}

void TraceSoftmax(Trace& t) {
  const TensorRef x = t.Tensor("x");
  const TensorRef out = t.OutputLike("out", x);
  const AxisRef m = t.Tile(t.SizeOf(x, 0));
  const AxisRef n = t.ReductionAxis(t.SizeOf(x, 1));
  const Value values = t.Load(x, {m, n}).To(DType::kF32);
  const Value e = exp(values - t.AMax(values, n));
  t.Store(out, {m, n}, e / t.Sum(e, n));
}

void TraceLayerNorm(Trace& t) {
  const TensorRef x = t.Tensor("x");
  const TensorRef out = t.OutputLike("out", x);
  const TensorRef means = t.Output("mean", {t.SizeOf(x, 0)}, DType::kF32);
  const AxisRef m = t.Tile(t.SizeOf(x, 0));
  const AxisRef n = t.ReductionAxis(t.SizeOf(x, 1));
  const Value values = t.Load(x, {m, n}).To(DType::kF32);
  const Value mean = t.Mean(values, n);
  const Value centred = values - mean;
  const Value variance = t.Mean(centred * centred, n);
  const Value weight = t.Load(t.Tensor("w"), {n});
  t.Store(out, {m, n}, centred * rsqrt(variance + 1e-5) * weight);
  t.Store(means, {m}, mean);
}

void TraceBmm(Trace& t) {
  const TensorRef a = t.Tensor("a");
  const TensorRef b = t.Tensor("b");
  const TensorRef out = t.Output("out", {t.SizeOf(a, 0), t.SizeOf(a, 1), t.SizeOf(b, 2)}, t.TensorInfo(a).dtype);
  const AxisRef batch = t.Tile(t.SizeOf(a, 0), 1);
  const AxisRef m = t.Tile(t.SizeOf(a, 1));
  const AxisRef n = t.Tile(t.SizeOf(b, 2));
  const Value zero = t.Full({batch, m, n}, 0, DType::kF32);
  const Trace::Carried sums =
      t.For(t.SizeOf(a, 2), {zero}, [&](AxisRef k, const Trace::Carried& carried) -> Trace::Carried {
        const Value left = t.Load(a, {batch, m, k});
        const Value right = t.Load(b, {batch, k, n});
        return {t.Dot(left, right, k, carried[0])};
      });
  t.Store(out, {batch, m, n}, sums[0]);
}

void TraceAttention(Trace& t) {
  const TensorRef q = t.Tensor("q");
  const TensorRef out = t.OutputLike("out", q);
  const AxisRef batch = t.Tile(t.SizeOf(q, 0), 1);
  const AxisRef m = t.Tile(t.SizeOf(q, 1));
  const AxisRef d = t.ReductionAxis(t.SizeOf(q, 2));
  const Value query = t.Load(q, {batch, m, d});
  const Trace::Carried initial = {t.Full({batch, m}, -std::numeric_limits<double>::infinity(), DType::kF32),
                                  t.Full({batch, m}, 0, DType::kF32), t.Full({batch, m, d}, 0, DType::kF32)};
  const Trace::Carried results =
      t.For(t.SizeOf(q, 1), initial, [&](AxisRef s, const Trace::Carried& carried) -> Trace::Carried {
        const Value scores = t.Dot(query, t.Load(t.Tensor("k"), {batch, s, d}), d);
        const Value largest = maximum(carried[0], t.AMax(scores, s));
        const Value weights = exp(scores - largest);
        const Value decay = exp(carried[0] - largest);
        const Value sum = t.Sum(weights, s);
        const Value values = t.Load(t.Tensor("v"), {batch, s, d}).To(DType::kF32);
        return {largest, carried[1] * decay + sum, t.Dot(weights, values, s, carried[2] * decay)};
      });
  t.Store(out, {batch, m, d}, results[2] / results[1]);
}

void TraceControl(Trace& t) {
  const TensorRef x = t.Tensor("x");
  const TensorRef out = t.OutputLike("out", x);
  const AxisRef m = t.Tile(t.SizeOf(x, 0));
  const Value v = t.Load(x, {m});
  const Trace::Carried chosen = t.If(
      t.Scalar("n") > 2, [&]() -> Trace::Carried { return {v * 10}; }, [&]() -> Trace::Carried { return {v - 1}; });
  const Trace::Carried powers = t.While(
      {t.Full({}, 0, DType::kI32), chosen[0]}, [&](const Trace::Carried& c) { return c[0] < t.Scalar("n"); },
      [](const Trace::Carried& c) -> Trace::Carried {
        return {c[0] + 1, c[1] * 2};
      });
  t.Store(out, {m}, t.Call("plus", {powers[1], v}, [](const std::vector<Value>& v) { return v[0] + v[1]; }));
}

}  // namespace telemetry::worker::ir
