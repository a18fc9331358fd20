#include "worker/ir/graph.h"

#include <map>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/worker/ir/sample_kernels.h"

namespace telemetry::worker::ir {
namespace {

using ::testing::ElementsAre;

TEST(OpTest, HasTheTargetsThatHelionRecords) {
  const std::map<Op, std::string> recorded = {
      {Op::kHostTensor, "helion.language._tracing_ops._host_tensor"},
      {Op::kBlockSize, "helion.language._tracing_ops._get_symnode"},
      {Op::kMaskTo, "helion.language._tracing_ops._mask_to"},
      {Op::kLoad, "helion.language.memory_ops.load"},
      {Op::kStore, "helion.language.memory_ops.store"},
      {Op::kAdd, "torch._ops.aten.aten::add.Tensor"},
      {Op::kMul, "torch._ops.aten.aten::mul.Tensor"},
      {Op::kSub, "torch._ops.aten.aten::sub.Tensor"},
      {Op::kDiv, "torch._ops.aten.aten::div.Tensor"},
      {Op::kExp, "torch._ops.aten.aten::exp"},
      {Op::kRsqrt, "torch._ops.aten.aten::rsqrt"},
      {Op::kAMax, "torch._ops.aten.aten::amax"},
      {Op::kSum, "torch._ops.aten.aten::sum.dim_IntList"},
      {Op::kConvert, "torch._ops.prims.prims::convert_element_type"},
      {Op::kOutput, "output"},
  };
  for (const auto& [op, target] : recorded) EXPECT_EQ(TargetName(op), target);
}

TEST(OpTest, EachHasNamesAndOneLowering) {
  for (int i = 0; i <= static_cast<int>(kLastOp); ++i) {
    const Op op = static_cast<Op>(i);
    EXPECT_FALSE(TargetName(op).empty()) << i;
    EXPECT_FALSE(BaseName(op).empty()) << i;
    EXPECT_LE(IsPointwise(op) + IsReduction(op) + IsControlFlow(op), 1) << BaseName(op);
  }
  EXPECT_TRUE(IsPointwise(Op::kConvert));
  EXPECT_TRUE(IsReduction(Op::kArgMax));
  EXPECT_TRUE(IsControlFlow(Op::kReductionLoop));
  EXPECT_EQ(GetLowering(Op::kMaskTo), Lowering::kApi);
  EXPECT_EQ(GetLowering(Op::kDot), Lowering::kDot);
}

TEST(GraphKindTest, EachHasANameOfItsOwn) {
  std::set<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(kLastGraphKind); ++i) names.insert(GraphKindName(static_cast<GraphKind>(i)));
  EXPECT_EQ(names.size(), static_cast<size_t>(kLastGraphKind) + 1);
  EXPECT_EQ(GraphKindName(GraphKind::kReductionLoop), "ReductionLoopGraphInfo");
}

TEST(IndicesTest, TellAxesGathersAndNumbersApart) {
  Trace t(
      {.kernel_name = "k", .tensors = {DenseTensor("x", {4, 5, 6, 7}), DenseTensor("at", {4}, device::DType::kI32)}});
  const AxisRef m = t.Tile(StaticSize(4));
  const AxisRef n = t.ReductionAxis(StaticSize(5));
  const Value at = t.Load(t.Tensor("at"), {m});
  t.Load(t.Tensor("x"), {m, n, at, int64_t{3}});
  const absl::StatusOr<DeviceIr> ir = t.Finish();
  ASSERT_TRUE(ir.ok()) << ir.status();
  const Graph& graph = ir->root_graph();
  const Node& load = graph.nodes[graph.nodes.size() - 2];
  ASSERT_EQ(load.op, Op::kLoad);
  EXPECT_THAT(load.shape, ElementsAre(m.id, n.id));
  const std::vector<Index> indices = ReadIndices(graph, load);
  ASSERT_EQ(indices.size(), 4U);
  EXPECT_EQ(indices[0].kind, Index::Kind::kAxis);
  EXPECT_EQ(indices[0].axis, m.id);
  EXPECT_EQ(indices[1].axis, n.id);
  EXPECT_EQ(indices[2].kind, Index::Kind::kGather);
  EXPECT_EQ(graph.at(indices[2].value).name, "load");
  EXPECT_EQ(indices[3].kind, Index::Kind::kLiteral);
  EXPECT_EQ(indices[3].literal, 3);
}

TEST(UsesTest, CountEachOccurrenceHoweverDeep) {
  Node node;
  node.args = {Arg{NodeRef{3}}, Arg{Arg::List{Arg{NodeRef{1}}, Arg{Arg::Map{{"key", Arg{NodeRef{3}}}}}}}};
  node.kwargs["out"] = Arg{NodeRef{2}};
  EXPECT_THAT(CollectUses(node), ElementsAre(NodeRef{3}, NodeRef{1}, NodeRef{3}, NodeRef{2}));
}

TEST(DebugStringTest, ShowsWhatTheKernelIsMadeOf) {
  Trace t(AttentionInputs());
  TraceAttention(t);
  const absl::StatusOr<DeviceIr> ir = t.Finish();
  ASSERT_TRUE(ir.ok()) << ir.status();
  EXPECT_THAT(DebugString(*ir), ::testing::StartsWith("kernel attention\n"
                                                      "axis u0 : grid of 4, blocks of 1\n"
                                                      "axis u1 : grid of 20\n"
                                                      "axis u2 : reduction of 16\n"
                                                      "axis u3 : loop of 30\n"
                                                      "tensor q : f16[4, 20, 16]\n"
                                                      "tensor k : f16[4, 30, 16]\n"
                                                      "tensor v : f16[4, 30, 16]\n"
                                                      "output out : f16[4, 20, 16]\n"
                                                      "scalar scale : f32\n"
                                                      "graph 0 RootGraphInfo:\n"));
}

}  // namespace
}  // namespace telemetry::worker::ir
