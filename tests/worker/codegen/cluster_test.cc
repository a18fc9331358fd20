#include "worker/codegen/cluster.h"

#include <random>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/record/strings.h"
#include "tests/worker/codegen/kernel_case.h"
#include "tests/worker/codegen/proof_test.h"
#include "worker/codegen/config_space.h"
#include "worker/codegen/emit/generate.h"

// Tests clusters of blocks that work on one tile (num_ctas).

namespace telemetry::worker::codegen {
namespace {

using device::Dialect;
using device::DType;
using ir::AxisRef;
using ir::TensorRef;
using ir::Value;
using record::Cat;
using testing::HasSubstr;
using testing::Not;

const Target kHopper = {
    .dialect = Dialect::kCuda, .sm = 90, .compute_units = 132, .shared_bytes_per_block = size_t{227} << 10};
const Target kAmpere = {.dialect = Dialect::kCuda, .sm = 80, .compute_units = 108};

// Traces a kernel with every kind of reduction along n. All but argmax reduce the rows after subtracting a multiple of
// their sums.
void ReduceTwice(ir::Trace& t) {
  const TensorRef x = t.Tensor("x");
  const AxisRef m = t.Tile(t.SizeOf(x, 0));
  const AxisRef n = t.ReductionAxis(t.SizeOf(x, 1));
  const Value v = t.Load(x, {m, n}).To(DType::kF32);
  const Value rest = v - t.Sum(v, n) * 0.001;
  const auto store = [&](const std::string& name, const Value& value) {
    t.Store(t.Output(name, {t.SizeOf(x, 0)}, value.dtype()), {m}, value);
  };
  store("sum", t.Sum(rest, n));
  store("max", t.AMax(rest, n));
  store("min", t.AMin(rest, n));
  store("argmax", t.ArgMax(v, n));
  t.Store(t.Output("rest", {t.SizeOf(x, 0), t.SizeOf(x, 1)}, DType::kF32), {m, n}, rest);
}

KernelCase Reductions(DType dtype, int64_t m, int64_t n) {
  KernelCase kernel;
  kernel.Input("x", dtype, {m, n}).Trace(ReduceTwice);
  return kernel;
}

// Returns the kernel out = a @ b.
KernelCase Dot() {
  KernelCase kernel;
  kernel.Input("a", DType::kF32, {64, 64}).Input("b", DType::kF32, {64, 64}).Trace([](ir::Trace& t) {
    const TensorRef a = t.Tensor("a");
    const TensorRef b = t.Tensor("b");
    const AxisRef m = t.Tile(t.SizeOf(a, 0));
    const AxisRef n = t.Tile(t.SizeOf(b, 1));
    const AxisRef k = t.ReductionAxis(t.SizeOf(a, 1));
    const TensorRef out = t.Output("out", {t.SizeOf(a, 0), t.SizeOf(b, 1)}, DType::kF32);
    t.Store(out, {m, n}, t.Dot(t.Load(a, {m, k}), t.Load(b, {k, n}), k));
  });
  return kernel;
}

// Returns the kernel x = x - max(x), which overwrites its argument.
KernelCase InPlace() {
  KernelCase kernel;
  kernel.Input("x", DType::kF32, {64, 64}).Trace([](ir::Trace& t) {
    const TensorRef x = t.Tensor("x");
    const AxisRef m = t.Tile(t.SizeOf(x, 0));
    const AxisRef n = t.ReductionAxis(t.SizeOf(x, 1));
    const Value v = t.Load(x, {m, n});
    t.Store(x, {m, n}, v - t.AMax(v, n));
  });
  return kernel;
}

const ConfigParameter* FindClusterParameter(const ConfigSpace& space) {
  for (const ConfigParameter& parameter : space.parameters()) {
    if (parameter.key == "num_ctas") return &parameter;
  }
  return nullptr;
}

TEST(Cluster, IsInTheSpaceOfTargetsThatHaveThem) {
  const ir::DeviceIr ir = Reductions(DType::kF32, 4, 100).ir();
  EXPECT_EQ(FindClusterParameter(ConfigSpaceFor(ir, kHopper))->high, kMostClusterBlocks);
  EXPECT_EQ(FindClusterParameter(ConfigSpaceFor(ir, kAmpere))->high, 1);
  EXPECT_EQ(FindClusterParameter(ConfigSpaceFor(ir, Target()))->high, 1);
  const absl::Status refused = ConfigSpaceFor(ir, kAmpere).Normalize(*Config::Parse("Config(num_ctas=2)")).status();
  EXPECT_THAT(refused.ToString(), HasSubstr("num_ctas=2 is not allowed"));
  EXPECT_THAT(refused.ToString(), HasSubstr("CUDA and sm_90 or later"));
}

TEST(Cluster, IsForKernelsThatReduceOnly) {
  EXPECT_EQ(FindClusterParameter(ConfigSpaceFor(Dot().ir(), kHopper)), nullptr);
  EXPECT_EQ(FindClusterParameter(ConfigSpaceFor(InPlace().ir(), kHopper)), nullptr)
      << "a block may read what another wrote";
}

TEST(Cluster, IsRefusedWhereThereAreNone) {
  const KernelCase kernel = Reductions(DType::kF32, 4, 100);
  const Config config = kernel.With("Config(num_ctas=4)");
  for (const Target& target : {kAmpere, Target()}) {
    const absl::Status status = emit::Generate(kernel.ir(), config, target).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
    EXPECT_THAT(status.ToString(), HasSubstr("num_ctas=4 makes clusters of blocks, which need CUDA and sm_90"));
  }
}

TEST(Cluster, HasOneTileForAllOfItsBlocks) {
  const KernelCase kernel = Reductions(DType::kF32, 1000, 4096);
  const auto grid = [&](const std::string& config) {
    const absl::StatusOr<GeneratedKernel> generated = emit::Generate(kernel.ir(), kernel.With(config), kHopper);
    EXPECT_TRUE(generated.ok()) << generated.status();
    return generated.ok() ? generated->GridSize(kernel.ir().tensors) : -1;
  };
  EXPECT_EQ(grid("Config(block_sizes=[1])"), 1000);
  EXPECT_EQ(grid("Config(block_sizes=[1], num_ctas=4)"), 4000);
  EXPECT_EQ(grid("Config(block_sizes=[2], num_ctas=8, num_warps=32, pid_type='persistent_blocked')"), 132 / 8 * 8);
}

TEST(Cluster, GivesTheSameTextAgain) {
  const Config config = Reductions(DType::kF32, 4, 4096).With("Config(num_ctas=4)");
  const auto one = emit::Generate(Reductions(DType::kF32, 4, 4096).ir(), config, kHopper);
  const auto two = emit::Generate(Reductions(DType::kF32, 4, 4096).ir(), config, kHopper);
  ASSERT_TRUE(one.ok() && two.ok()) << one.status() << two.status();
  EXPECT_EQ(one->source, two->source);
  EXPECT_THAT(one->source, HasSubstr("__cluster_dims__(4, 1, 1)"));
}

TEST(Cluster, ExchangesOnlyWhatBlocksShare) {
  // Four threads hold all of a row, and the other bits of the thread's index select rows, so no block shares a row.
  KernelCase kernel;
  kernel.Input("x", DType::kF32, {4096, 16}).Trace([](ir::Trace& t) {
    const TensorRef x = t.Tensor("x");
    const AxisRef m = t.Tile(t.SizeOf(x, 0));
    const AxisRef n = t.ReductionAxis(t.SizeOf(x, 1));
    t.Store(t.Output("sums", {t.SizeOf(x, 0)}, DType::kF32), {m}, t.Sum(t.Load(x, {m, n}), n));
  });
  const auto generated =
      emit::Generate(kernel.ir(), kernel.With("Config(block_sizes=[64], num_warps=1, num_ctas=8)"), kHopper);
  ASSERT_TRUE(generated.ok()) << generated.status();
  EXPECT_THAT(generated->source, Not(HasSubstr("cluster_read")));
  EXPECT_THAT(generated->source, Not(HasSubstr("cluster_wait")));
}

struct Shape {
  DType dtype;
  int64_t m;
  int64_t n;
  std::string config;
};

class ClusterCode : public ProofTest {
 protected:
  bool HasInstructions(const Target& target) const override { return HasClusters(target); }
  void ExpectRight(const Shape& shape) const {
    SCOPED_TRACE(Cat(shape.m, " x ", shape.n));
    ProofTest::ExpectRight(Reductions(shape.dtype, shape.m, shape.n), shape.config, {1e-4, 1e-3});
  }
};
INSTANTIATE_TEST_SUITE_P(Proofs, ClusterCode, testing::Values(Proof::kCompiles, Proof::kRunsOnGpu), ProofName);

TEST_P(ClusterCode, SharesRowsThatAreHeldAtOnce) {
  ExpectRight({DType::kF32, 3, 4096, "Config(block_sizes=[1], num_ctas=8, num_warps=4)"});
  ExpectRight({DType::kF16, 5, 3000, "Config(block_sizes=[2], num_ctas=2, num_warps=2)"});
  ExpectRight({DType::kF32, 37, 70, "Config(block_sizes=[16], num_ctas=4, num_warps=8)"});
}

TEST_P(ClusterCode, SharesRowsThatAreWalkedInChunks) {
  ExpectRight({DType::kF32, 4, 20000, "Config(block_sizes=[1], num_ctas=4, num_warps=8, reduction_loops=[4096])"});
}

TEST_P(ClusterCode, TakesOneTileAfterAnother) {
  ExpectRight(
      {DType::kF32, 700, 1000, "Config(block_sizes=[1], num_ctas=8, num_warps=8, pid_type='persistent_interleaved')"});
}

// Leaves out the shapes and configs that need more registers than a thread has, which the generator refuses.
TEST_P(ClusterCode, OfRandomShapes) {
  std::mt19937 random(7);
  const auto below = [&random](uint32_t end) { return static_cast<int64_t>(random() % end); };
  const int wanted = runs() ? 40 : 2;
  int tested = 0;
  for (int drawn = 0; drawn < 2 * wanted && tested < wanted; ++drawn) {
    const std::string chunk = below(2) == 0 ? "None" : std::to_string(16 << below(7));
    const Shape shape = {below(2) == 0 ? DType::kF32 : DType::kF16, 1 + below(20), 1 + below(6000),
                         Cat("Config(block_sizes=[", 1 << below(4), "], num_ctas=", 2 << below(3),
                             ", num_warps=", 1 << below(6), ", reduction_loops=[", chunk, "])")};
    const KernelCase kernel = Reductions(shape.dtype, shape.m, shape.n);
    if (absl::IsResourceExhausted(emit::Generate(kernel.ir(), kernel.With(shape.config), kHopper).status())) continue;
    ExpectRight(shape);
    ++tested;
  }
  EXPECT_EQ(tested, wanted);
}

}  // namespace
}  // namespace telemetry::worker::codegen
