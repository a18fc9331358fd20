#include "tests/worker/codegen/dot_kernels.h"

#include "gtest/gtest.h"
#include "worker/codegen/emit/generate.h"

namespace telemetry::worker::codegen {
namespace {

using device::DType;
using ir::AxisRef;
using ir::TensorRef;
using ir::Value;

// Traces softmax(q * k) * v in a loop over blocks of k and v. Rescales the sums so far by the running maximum.
void Attention(ir::Trace& t) {
  const TensorRef q = t.Tensor("q");
  const TensorRef k = t.Tensor("k");
  const TensorRef v = t.Tensor("v");
  const TensorRef out = t.OutputLike("out", q);
  const AxisRef b = t.Tile(t.SizeOf(q, 0), 1);
  const AxisRef m = t.Tile(t.SizeOf(q, 1));
  const AxisRef d = t.ReductionAxis(t.SizeOf(q, 2));
  const Value query = t.Load(q, {b, m, d});
  const ir::Trace::Carried results =
      t.For(t.SizeOf(k, 1),
            {t.Full({b, m}, -1e30, DType::kF32), t.Full({b, m}, 0, DType::kF32), t.Full({b, m, d}, 0, DType::kF32)},
            [&](AxisRef n, const ir::Trace::Carried& c) -> ir::Trace::Carried {
              const Value keys = t.Load(k, {b, n, d});
              const Value scores =
                  t.Where(t.Index(n) < static_cast<int>(t.SizeOf(k, 1).value), t.Dot(query, keys, d) * 0.2, -1e30);
              const Value highest = maximum(c[0], t.AMax(scores, n));
              const Value weights = exp(scores - highest);
              const Value rescale = exp(c[0] - highest);
              const Value values = t.Load(v, {b, n, d});
              return {highest, c[1] * rescale + t.Sum(weights, n),
                      t.Dot(weights.To(values.dtype()), values, n, c[2] * rescale)};
            });
  t.Store(out, {b, m, d}, results[2] / results[1]);
}

// Traces a dot of plain loads whose sums are the rows of a second dot, in registers.
void DotOfDot(ir::Trace& t) {
  const ir::TensorRef a = t.Tensor("a");
  const ir::TensorRef b = t.Tensor("b");
  const ir::TensorRef c = t.Tensor("c");
  const DType dtype = t.TensorInfo(a).dtype;
  const ir::TensorRef out = t.Output("out", {t.SizeOf(a, 0), t.SizeOf(c, 1)}, dtype);
  const ir::AxisRef m = t.Tile(t.SizeOf(a, 0));
  const ir::AxisRef d = t.ReductionAxis(t.SizeOf(a, 1));
  const ir::AxisRef e = t.ReductionAxis(t.SizeOf(c, 1));
  const ir::Trace::Carried sums = t.For(t.SizeOf(b, 0), {t.Full({m, e}, 0, DType::kF32)},
                                        [&](ir::AxisRef n, const ir::Trace::Carried& carried) -> ir::Trace::Carried {
                                          const ir::Value inner = t.Dot(t.Load(a, {m, d}), t.Load(b, {n, d}), d) * 0.1;
                                          return {t.Dot(inner.To(dtype), t.Load(c, {n, e}), n, carried[0])};
                                        });
  t.Store(out, {m, e}, sums[0]);
}

}  // namespace

// Works for arguments with any strides.
void Matmul(ir::Trace& t) {
  const TensorRef a = t.Tensor("a");
  const TensorRef b = t.Tensor("b");
  const TensorRef out = t.Output("out", {t.SizeOf(a, 0), t.SizeOf(b, 1)}, t.TensorInfo(a).dtype);
  const AxisRef m = t.Tile(t.SizeOf(a, 0));
  const AxisRef n = t.Tile(t.SizeOf(b, 1));
  const ir::Trace::Carried sums = t.For(t.SizeOf(a, 1), {t.Full({m, n}, 0, DType::kF32)},
                                        [&](AxisRef k, const ir::Trace::Carried& carried) -> ir::Trace::Carried {
                                          return {t.Dot(t.Load(a, {m, k}), t.Load(b, {k, n}), k, carried[0])};
                                        });
  t.Store(out, {m, n}, sums[0]);
}

KernelCase MatmulCase(DType dtype, int64_t m, int64_t n, int64_t k) {
  KernelCase kernel;
  kernel.Input("a", dtype, {m, k}).Input("b", dtype, {k, n}).Trace(Matmul);
  return kernel;
}

KernelCase AttentionCase(DType dtype, int64_t batch, int64_t m, int64_t n, int64_t d) {
  KernelCase kernel;
  kernel.Input("q", dtype, {batch, m, d}).Input("k", dtype, {batch, n, d}).Input("v", dtype, {batch, n, d});
  kernel.Trace(Attention);
  return kernel;
}

KernelCase DotOfDotCase(DType dtype) {
  KernelCase kernel;
  kernel.Input("a", dtype, {100, 64}).Input("b", dtype, {150, 64}).Input("c", dtype, {150, 64}).Trace(DotOfDot);
  return kernel;
}

std::string CudaSource(const KernelCase& kernel, const std::string& config, const GenerateOptions& options, int sm) {
  const Target target = {.dialect = device::Dialect::kCuda, .sm = sm, .shared_bytes_per_block = 99 << 10};
  const absl::StatusOr<GeneratedKernel> generated = emit::Generate(kernel.ir(), kernel.With(config), target, options);
  EXPECT_TRUE(generated.ok()) << generated.status();
  return generated.ok() ? generated->source : "";
}

}  // namespace telemetry::worker::codegen
