#include "worker/ir/roll.h"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/worker/ir/sample_kernels.h"
#include "worker/ir/compare.h"
#include "worker/ir/reference/reference.h"

namespace telemetry::worker::ir {
namespace {

using device::DType;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

DeviceIr Traced(TraceInputs inputs, const std::function<void(Trace&)>& function) {
  Trace trace(std::move(inputs));
  function(trace);
  absl::StatusOr<DeviceIr> ir = trace.Finish();
  EXPECT_TRUE(ir.ok()) << ir.status();
  return ir.ok() ? *std::move(ir) : DeviceIr();
}

std::vector<Op> ListComputations(const Graph& graph) {
  std::vector<Op> ops;
  for (const Node& node : graph.nodes) {
    const bool computes = GetLowering(node.op) != Lowering::kApi || node.op == Op::kLoad || node.op == Op::kStore;
    if (computes && node.op != Op::kOutput) ops.push_back(node.op);
  }
  return ops;
}

const Graph& RolledRoot(const DeviceIr& ir, const std::vector<int>& axes) {
  for (const RolledReduction& rolled : ir.rolled) {
    if (rolled.original_graph == ir.root && rolled.axes == axes) {
      return ir.graphs[static_cast<size_t>(rolled.rolled_graph)];
    }
  }
  ADD_FAILURE() << "not rolled\n" << DebugString(ir);
  return ir.root_graph();
}

std::vector<const Graph*> FindLoops(const DeviceIr& ir, const Graph& graph) {
  std::vector<const Graph*> loops;
  for (const Node& node : graph.nodes) {
    if (node.op == Op::kReductionLoop) loops.push_back(&ir.graphs[static_cast<size_t>(node.graphs[0])]);
  }
  return loops;
}

// Returns inputs of small numbers that repeat only after 61 elements.
reference::Tensors MakeInputs(const DeviceIr& ir) {
  reference::Tensors tensors;
  for (const HostTensor& tensor : ir.tensors) {
    if (tensor.is_output) continue;
    std::vector<int64_t> sizes;
    for (const Size& size : tensor.sizes) sizes.push_back(size.value);
    HostArray array = HostArray::Dense(tensor.dtype, sizes);
    for (size_t i = 0; i < array.data.size(); ++i) array.data[i] = static_cast<double>(i * 7 % 61) / 16 - 1.5;
    tensors.push_back(array);
  }
  return tensors;
}

reference::Tensors Evaluated(const DeviceIr& ir, const reference::Options& options) {
  reference::Tensors tensors = MakeInputs(ir);
  const absl::Status status = reference::Evaluate(ir, options, &tensors);
  EXPECT_TRUE(status.ok()) << status;
  return tensors;
}

void ExpectSameResults(const DeviceIr& ir, const std::vector<int>& axes) {
  const reference::Tensors whole = Evaluated(ir, {});
  const reference::Tensors rolled = Evaluated(ir, {.default_block = 4, .rolled_axes = axes});
  ASSERT_EQ(whole.size(), rolled.size());
  for (size_t i = 0; i < whole.size(); ++i) {
    const Comparison compared = Compare(whole[i], rolled[i], ToleranceFor(whole[i].dtype));
    EXPECT_TRUE(compared.ok()) << ir.tensors[i].name << ": " << compared.ToString() << "\n" << DebugString(ir);
  }
}

TEST(RollTest, SoftmaxBecomesThreeLoops) {
  const DeviceIr ir = Traced(SoftmaxInputs(), TraceSoftmax);
  ASSERT_EQ(ir.rolled.size(), 1U);
  EXPECT_EQ(ir.rolled[0].original_graph, 0);
  EXPECT_THAT(ir.rolled[0].axes, ElementsAre(1));
  const auto loops = FindLoops(ir, RolledRoot(ir, {1}));
  ASSERT_EQ(loops.size(), 3U);
  // The loops are graphs 1, 2 and 3, as Helion numbers them.
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(loops[static_cast<size_t>(i)]->id, i + 1);
    EXPECT_EQ(loops[static_cast<size_t>(i)]->kind, GraphKind::kReductionLoop);
    EXPECT_THAT(loops[static_cast<size_t>(i)]->axes, ElementsAre(1));
  }
  EXPECT_THAT(ListComputations(*loops[0]),
              ElementsAre(Op::kPlaceholder, Op::kLoad, Op::kConvert, Op::kAMax, Op::kMaximum));
  EXPECT_THAT(ListComputations(*loops[1]), ElementsAre(Op::kPlaceholder, Op::kPlaceholder, Op::kLoad, Op::kConvert,
                                                       Op::kSub, Op::kExp, Op::kSum, Op::kAdd));
  EXPECT_THAT(ListComputations(*loops[2]), ElementsAre(Op::kPlaceholder, Op::kPlaceholder, Op::kLoad, Op::kConvert,
                                                       Op::kSub, Op::kExp, Op::kDiv, Op::kConvert, Op::kStore));
  ExpectSameResults(ir, {1});
}

TEST(RollTest, LeavesTheOriginalAsItIs) {
  DeviceIr ir = Traced(SoftmaxInputs(), TraceSoftmax);
  const size_t nodes = ir.root_graph().nodes.size();
  for (const Node& node : ir.root_graph().nodes) EXPECT_NE(node.op, Op::kReductionLoop);
  EXPECT_EQ(nodes, 15U);
  EXPECT_EQ(ir.root, 0);
}

TEST(RollTest, LayerNormStoresTheMeanBetweenItsLoops) {
  const DeviceIr ir = Traced(LayerNormInputs(), TraceLayerNorm);
  const Graph& root = RolledRoot(ir, {1});
  EXPECT_EQ(FindLoops(ir, root).size(), 3U);
  EXPECT_THAT(ListComputations(root),
              ElementsAre(Op::kReductionLoop, Op::kGetItem, Op::kDiv, Op::kStore, Op::kReductionLoop, Op::kGetItem,
                          Op::kDiv, Op::kAdd, Op::kRsqrt, Op::kReductionLoop));
  ExpectSameResults(ir, {1});
}

TEST(RollTest, ReductionsOfOneLevelShareALoop) {
  const DeviceIr ir = Traced({.kernel_name = "k", .tensors = {DenseTensor("x", {9, 30})}}, [](Trace& t) {
    const TensorRef x = t.Tensor("x");
    const AxisRef m = t.Tile(t.SizeOf(x, 0));
    const AxisRef n = t.ReductionAxis(t.SizeOf(x, 1));
    const Value v = t.Load(x, {m, n});
    const auto put = [&](const std::string& name, const Value& value) {
      t.Store(t.Output(name, {t.SizeOf(x, 0)}, value.dtype()), {m}, value);
    };
    put("sum", t.Sum(v, n));
    put("largest", t.AMax(v, n));
    put("smallest", t.AMin(v, n));
    put("product", t.Prod(v * 0.25 + 1.0, n));
    put("where", t.ArgMax(v, n));
    put("count", t.Sum(v > 0.0, n));
    put("last", t.AMax(t.Index(n), n));
  });
  ASSERT_EQ(FindLoops(ir, RolledRoot(ir, {1})).size(), 1U);
  ExpectSameResults(ir, {1});
}

TEST(RollTest, ArgMaxKeepsTheFirstOfEqualOnes) {
  const DeviceIr ir = Traced({.kernel_name = "k", .tensors = {DenseTensor("x", {1, 30})}}, [](Trace& t) {
    const TensorRef x = t.Tensor("x");
    const AxisRef m = t.Tile(t.SizeOf(x, 0));
    const AxisRef n = t.ReductionAxis(t.SizeOf(x, 1));
    t.Store(t.Output("out", {t.SizeOf(x, 0)}, DType::kI32), {m}, t.ArgMax(t.Load(x, {m, n}), n));
  });
  reference::Tensors tensors = MakeInputs(ir);
  std::fill(tensors[0].data.begin(), tensors[0].data.end(), -1.0);
  tensors[0].data[6] = tensors[0].data[13] = tensors[0].data[29] = 2.0;
  ASSERT_TRUE(reference::Evaluate(ir, {.default_block = 4, .rolled_axes = {1}}, &tensors).ok());
  EXPECT_EQ(tensors[1].data[0], 6);
}

TEST(RollTest, CarriesTheAccumulatorOfADot) {
  const DeviceIr ir =
      Traced({.kernel_name = "k", .tensors = {DenseTensor("a", {9, 30}), DenseTensor("b", {30, 5})}}, [](Trace& t) {
        const AxisRef m = t.Tile(StaticSize(9));
        const AxisRef n = t.Tile(StaticSize(5));
        const AxisRef r = t.ReductionAxis(StaticSize(30));
        const Value start = exp(t.Full({m, n}, 1.5, DType::kF32));
        const Value sum = t.Dot(t.Load(t.Tensor("a"), {m, r}), t.Load(t.Tensor("b"), {r, n}), r, start);
        t.Store(t.Output("out", {StaticSize(9), StaticSize(5)}, DType::kF32), {m, n}, sum);
      });
  ASSERT_EQ(FindLoops(ir, RolledRoot(ir, {2})).size(), 1U);
  ExpectSameResults(ir, {2});
}

TEST(RollTest, RollsTheBodyOfALoopWithItsRoot) {
  const DeviceIr ir = Traced({.kernel_name = "k", .tensors = {DenseTensor("x", {9, 7, 30})}}, [](Trace& t) {
    const TensorRef x = t.Tensor("x");
    const AxisRef m = t.Tile(t.SizeOf(x, 0));
    const AxisRef r = t.ReductionAxis(t.SizeOf(x, 2));
    const auto sums = t.For(t.SizeOf(x, 1), {t.Full({m}, 0, DType::kF32)}, [&](AxisRef i, const Trace::Carried& sum) {
      return Trace::Carried{sum[0] + t.Sum(t.AMax(t.Load(x, {m, i, r}), r), i)};
    });
    t.Store(t.Output("out", {t.SizeOf(x, 0)}, DType::kF32), {m}, sums[0]);
  });
  ASSERT_EQ(ir.rolled.size(), 2U) << "the root and the body";
  const Graph& root = RolledRoot(ir, {1});
  EXPECT_THAT(FindLoops(ir, root), IsEmpty());
  ExpectSameResults(ir, {1});
}

TEST(RollTest, RollsSeveralAxesAloneAndTogether) {
  const DeviceIr ir = Traced({.kernel_name = "k", .tensors = {DenseTensor("x", {5, 30, 20})}}, [](Trace& t) {
    const TensorRef x = t.Tensor("x");
    const AxisRef m = t.Tile(t.SizeOf(x, 0));
    const AxisRef a = t.ReductionAxis(t.SizeOf(x, 1));
    const AxisRef b = t.ReductionAxis(t.SizeOf(x, 2));
    const Value rows = t.AMax(t.Load(x, {m, a, b}), a);
    t.Store(t.Output("out", {t.SizeOf(x, 0)}, DType::kF32), {m}, t.Sum(rows, b));
  });
  for (const std::vector<int>& axes : {std::vector<int>{1}, {2}, {1, 2}}) ExpectSameResults(ir, axes);
}

TEST(RollTest, CallsHelperFunctionsOnChunks) {
  const DeviceIr ir = Traced({.kernel_name = "k", .tensors = {DenseTensor("x", {9, 30})}}, [](Trace& t) {
    const TensorRef x = t.Tensor("x");
    const TensorRef out = t.OutputLike("out", x);
    const AxisRef m = t.Tile(t.SizeOf(x, 0));
    const AxisRef n = t.ReductionAxis(t.SizeOf(x, 1));
    const Value v =
        t.Call("silu", {t.Load(x, {m, n})}, [](const std::vector<Value>& a) { return a[0] * sigmoid(a[0]); });
    t.Store(out, {m, n}, v / t.Sum(v, n));
  });
  EXPECT_EQ(FindLoops(ir, RolledRoot(ir, {1})).size(), 2U);
  ExpectSameResults(ir, {1});
}

TEST(RollTest, SaysWhyAnAxisIsNotRolled) {
  const DeviceIr carried = Traced(AttentionInputs(), TraceAttention);
  EXPECT_THAT(carried.rolled, IsEmpty());
  EXPECT_EQ(WhyNotRolled(carried, 2),
            "a value that has the axis u2 is captured or carried by a loop in graph 0 (node _for_loop)");
  EXPECT_THAT(DebugString(carried), HasSubstr("not rolled: u2: a value that has the axis u2"));
  EXPECT_EQ(carried.graphs.size(), 2U) << "nothing half done stays behind";

  const DeviceIr in_place = Traced(SoftmaxInputs(), [](Trace& t) {
    const TensorRef x = t.Tensor("x");
    const AxisRef m = t.Tile(t.SizeOf(x, 0));
    const AxisRef n = t.ReductionAxis(t.SizeOf(x, 1));
    const Value v = t.Load(x, {m, n});
    t.Store(x, {m, n}, v / t.Sum(v, n));
  });
  EXPECT_EQ(WhyNotRolled(in_place, 1), "'x' is both read and written");
  EXPECT_EQ(WhyNotRolled(in_place, 0), "") << "an axis of the grid";
}

TEST(RollTest, KeepsStoresInTheirOrder) {
  const DeviceIr ir = Traced({.kernel_name = "k", .tensors = {DenseTensor("x", {9, 30})}}, [](Trace& t) {
    const TensorRef x = t.Tensor("x");
    const TensorRef out = t.OutputLike("out", x);
    const AxisRef m = t.Tile(t.SizeOf(x, 0));
    const AxisRef n = t.ReductionAxis(t.SizeOf(x, 1));
    const Value v = t.Load(x, {m, n});
    t.Store(out, {m, n}, v / t.Sum(v, n));
    t.Store(out, {m, n}, v);  // rolling would execute it first
  });
  EXPECT_THAT(ir.rolled, IsEmpty());
  EXPECT_THAT(WhyNotRolled(ir, 1), HasSubstr("several nodes of graph 0 write to 'out'"));
}

}  // namespace
}  // namespace telemetry::worker::ir
