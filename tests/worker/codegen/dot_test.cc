#include <string>

#include "gtest/gtest.h"
#include "tests/worker/codegen/kernel_case.h"
#include "tests/worker/codegen/kernel_runner.h"

// Dots: sums of products in float32, on tensor cores where the device has them (TELEMETRY_TEST_DEVICE=cuda:0).

namespace telemetry::worker::codegen {
namespace {

using ir::AxisRef;
using ir::TensorRef;
using ir::Value;

constexpr ir::Tolerance kDotTolerance = {.absolute = 4e-3, .relative = 4e-3};

// out[m, n] = a[m, k] * b[k, n]; strides as the arguments have them.
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

class DotOf : public testing::TestWithParam<DType> {};
INSTANTIATE_TEST_SUITE_P(DTypes, DotOf, testing::Values(DType::kF32, DType::kF16, DType::kBF16),
                         [](const auto& info) { return std::string(ShortName(info.param)); });

TEST_P(DotOf, ShapesThatBlocksDivide) {
  MatmulCase(GetParam(), 64, 128, 64).ExpectReferenceResults("Config()", kDotTolerance);
}

TEST_P(DotOf, RaggedShapes) {
  const KernelCase kernel = MatmulCase(GetParam(), 37, 71, 53);
  kernel.ExpectReferenceResults("Config(block_sizes=[32, 32, 16])", kDotTolerance);
  kernel.ExpectReferenceResults("Config(block_sizes=[64, 16, 32], num_warps=2)", kDotTolerance);
  kernel.ExpectReferenceResults("Config(block_sizes=[16, 64, 64], num_warps=8)", kDotTolerance);
}

TEST_P(DotOf, BlocksTooSmallForTensorCores) {
  MatmulCase(GetParam(), 9, 10, 11).ExpectReferenceResults("Config(block_sizes=[4, 4, 4], num_warps=1)", kDotTolerance);
}

TEST_P(DotOf, TransposedOperands) {
  KernelCase kernel;
  kernel.Input("a", GetParam(), {48, 40}, {1, 48}).Input("b", GetParam(), {40, 56}, {1, 40}).Trace(Matmul);
  kernel.ExpectReferenceResults("Config(block_sizes=[32, 32, 16])", kDotTolerance);
}

TEST_P(DotOf, ConfigKeys) {
  const KernelCase kernel = MatmulCase(GetParam(), 70, 90, 50);
  for (const char* key : {"l2_groupings=[2]", "loop_orders=[[1, 0]]", "pid_type='persistent_blocked'",
                          "pid_type='persistent_interleaved'", "range_unroll_factors=[2]",
                          "load_eviction_policies=['first', 'last']", "vector_widths=[1, 2, 1]"}) {
    SCOPED_TRACE(key);
    kernel.ExpectReferenceResults("Config(block_sizes=[16, 32, 16], " + std::string(key) + ")", kDotTolerance);
  }
}

TEST(Dot, OfTf32WhereAllowed) {
  MatmulCase(DType::kF32, 64, 48, 40)
      .ExpectReferenceResults("Config(block_sizes=[32, 32, 16])", {3e-2, 1e-2}, {.allow_tf32 = true});
}

// softmax(q * k) * v, a block of k and v after the other: the running maximum and sum rescale what was added up before.
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

KernelCase AttentionCase(DType dtype, int64_t batch, int64_t m, int64_t n, int64_t d) {
  KernelCase kernel;
  kernel.Input("q", dtype, {batch, m, d}).Input("k", dtype, {batch, n, d}).Input("v", dtype, {batch, n, d});
  kernel.Trace(Attention);
  return kernel;
}

TEST_P(DotOf, OnlineSoftmaxAttention) {
  const ir::Tolerance tolerance = {.absolute = 1e-2, .relative = 1e-2};
  AttentionCase(GetParam(), 2, 64, 64, 32)
      .ExpectReferenceResults("Config(block_sizes=[32, 32], num_warps=2)", tolerance);
  AttentionCase(GetParam(), 2, 45, 51, 20)
      .ExpectReferenceResults("Config(block_sizes=[16, 16], num_warps=2)", tolerance);
}

std::string CudaSource(const KernelCase& kernel, const std::string& config, const GenerateOptions& options = {}) {
  const absl::StatusOr<GeneratedKernel> generated =
      Generate(kernel.ir(), kernel.With(config), {.dialect = Dialect::kCuda}, options);
  EXPECT_TRUE(generated.ok()) << generated.status();
  return generated.ok() ? generated->source : "";
}

TEST(Dot, UsesTheInstructionOfItsDType) {
  const std::string config = "Config(block_sizes=[32, 32, 16])";
  EXPECT_NE(CudaSource(MatmulCase(DType::kF16, 64, 64, 64), config).find("m16n8k16.row.col.f32.f16"),
            std::string::npos);
  EXPECT_NE(CudaSource(MatmulCase(DType::kBF16, 64, 64, 64), config).find("m16n8k16.row.col.f32.bf16"),
            std::string::npos);
  const KernelCase f32 = MatmulCase(DType::kF32, 64, 64, 64);
  EXPECT_EQ(CudaSource(f32, config).find("mma.sync"), std::string::npos);
  EXPECT_NE(CudaSource(f32, config, {.allow_tf32 = true}).find("m16n8k8.row.col.f32.tf32"), std::string::npos);
}

TEST(Dot, TakesSumsOfAnEarlierDotFromRegisters) {
  const std::string source =
      CudaSource(AttentionCase(DType::kF16, 2, 64, 64, 64), "Config(block_sizes=[64, 32], num_warps=4)");
  EXPECT_EQ(source.find("rows_shared"), std::string::npos) << source;
}

}  // namespace
}  // namespace telemetry::worker::codegen
