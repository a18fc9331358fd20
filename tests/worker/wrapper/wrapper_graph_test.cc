#include "worker/wrapper/wrapper_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "proto/record/sidecar/ir_record.h"
#include "tests/worker/wrapper/sample_plans.h"
#include "worker/kernels/problem.h"
#include "worker/wrapper/launch_plan.h"
#include "worker/wrapper/memory_plan.h"

namespace telemetry::worker::wrapper {
namespace {

using device::DType;
using testing::ElementsAre;
using testing::HasSubstr;

v1::IrGraph MakeGraph(const absl::StatusOr<Plan>& plan) {
  EXPECT_TRUE(plan.ok()) << plan.status();
  return WrapperGraph(*plan, "cuda:0");
}

// Returns "id: target" of each node.
std::vector<std::string> Nodes(const v1::IrGraph& graph) {
  std::vector<std::string> nodes;
  for (const v1::IrNode& node : graph.nodes()) nodes.push_back(node.id() + ": " + node.target());
  return nodes;
}

// Returns "source > target [positions]" of each edge of the kind.
std::vector<std::string> Edges(const v1::IrGraph& graph, const std::string& kind) {
  std::vector<std::string> edges;
  for (const v1::IrEdge& edge : graph.edges()) {
    if (edge.edge_kind() == kind)
      edges.push_back(edge.source() + " > " + edge.target() + " " + edge.arg_positions_json());
  }
  return edges;
}

TEST(WrapperGraph, HasANodeForEachLineAndEdgesFromWhatWroteAValue) {
  const v1::IrGraph graph = MakeGraph(PlanMemory(*AttentionPlan())->plan);
  EXPECT_THAT(Nodes(graph), ElementsAre("g0:q: q", "g0:k: k", "g0:v: v", "g0:scores: allocate", "g0:2:bmm: call_kernel",
                                        "g0:score_rows: reinterpret", "g0:weights: allocate",
                                        "g0:6:softmax: call_kernel", "g0:weight_batches: reinterpret", "g0:out: reuse",
                                        "g0:9:bmm: call_kernel", "g0:10:weights: free", "g0:output: output"));
  EXPECT_THAT(Edges(graph, "data"),
              ElementsAre("g0:q > g0:2:bmm [0]", "g0:k > g0:2:bmm [1]", "g0:2:bmm > g0:score_rows [0]",
                          "g0:score_rows > g0:6:softmax [0]", "g0:6:softmax > g0:weight_batches [0]",
                          "g0:weight_batches > g0:9:bmm [0]", "g0:v > g0:9:bmm [1]", "g0:9:bmm > g0:output [0]"));
  EXPECT_THAT(Edges(graph, "memory"),
              ElementsAre("g0:scores > g0:2:bmm [2]", "g0:weights > g0:6:softmax [1]", "g0:scores > g0:out [0]",
                          "g0:out > g0:9:bmm [2]", "g0:weights > g0:10:weights [0]"));
}

// Checks a write to the memory of a view after the view was made.
TEST(WrapperGraph, AViewIsReadWithWhatWasWrittenBehindIt) {
  PlanBuilder b("late");
  const BufferRef x = b.Input("x", DType::kF32, {4, 8});
  const BufferRef memory = b.Allocate("memory", DType::kF32, {4, 8});
  const BufferRef view = b.View(memory, {8, 4}, {4, 1}, 0, "view");
  b.Call("exp", {x}, {.into = {memory}});
  b.Output(b.Call("exp", {view}, {.names = {"out"}})[0]);
  EXPECT_THAT(Edges(MakeGraph(b.Finish()), "data"),
              ElementsAre("g0:memory > g0:view [0]", "g0:x > g0:3:exp [0]", "g0:view > g0:6:exp_1 [0]",
                          "g0:3:exp > g0:6:exp_1 [0]", "g0:6:exp_1 > g0:output [0]"));
}

TEST(WrapperGraph, WrittenRowsAreReadAndWritten) {
  const v1::IrGraph graph = MakeGraph(RowUpdatePlan());
  EXPECT_THAT(Edges(graph, "data"),
              testing::IsSupersetOf({"g0:2:exp > g0:7:index_put [0]", "g0:rows > g0:7:index_put [1]",
                                     "g0:7:index_put > g0:8:index_put [0]", "g0:updates > g0:8:index_put [2]",
                                     "g0:8:index_put > g0:11:softmax_1 [0]", "g0:8:index_put > g0:output [1]"}));
  EXPECT_THAT(Edges(graph, "memory"),
              testing::IsSupersetOf({"g0:updated > g0:7:index_put [0]", "g0:updated > g0:8:index_put [0]"}));
}

TEST(WrapperGraph, PacksLeadToTheirParts) {
  PlanBuilder b("packed");
  const BufferRef x = b.Input("x", DType::kF32, {8, 64});
  const BufferRef weight = b.Input("weight", DType::kF32, {64});
  const BufferRef bias = b.Input("bias", DType::kF32, {64});
  const CallOutputs norm = b.CallExternAllocating("layer_norm", {x, weight, bias}, {.names = {"out", "mean", "rstd"}});
  b.Output(norm[0]);
  EXPECT_THAT(Edges(MakeGraph(b.Finish()), "data"),
              ElementsAre("g0:x > g0:1:layer_norm [0]", "g0:weight > g0:1:layer_norm [1]",
                          "g0:bias > g0:1:layer_norm [2]", "g0:1:layer_norm > g0:out [0]",
                          "g0:1:layer_norm > g0:mean [0]", "g0:1:layer_norm > g0:rstd [0]", "g0:out > g0:output [0]"));
}

TEST(WrapperGraph, SaysOfOneLaunchWhatItTakes) {
  const kernels::LibraryKernel& kernel = **kernels::FindKernel("layer_norm");
  const v1::IrGraph graph = MakeGraph(PlanOfLaunch(kernel, kernels::DefaultProblem(kernel)));
  const auto call = std::find_if(graph.nodes().begin(), graph.nodes().end(),
                                 [](const v1::IrNode& node) { return node.target() == "call_kernel"; });
  ASSERT_NE(call, graph.nodes().end());
  EXPECT_EQ(call->lowering_class(), "layer_norm");
  EXPECT_THAT(call->value_json(), HasSubstr("eps"));
  EXPECT_THAT(graph.attributes_json(), HasSubstr("kernels"));
}

TEST(WrapperGraph, ComesThroughItsLine) {
  v1::Run run;
  run.set_run_id(std::string(64, 'a'));
  run.set_kernel_name("gated_mlp");
  v1::IrGraph graph = MakeGraph(PlanMemory(*GatedMlpPlan())->plan);
  graph.set_run_id(run.run_id());
  const auto json = record::ParseJson(record::sidecar::FormatIrRecord(graph, run));
  ASSERT_TRUE(json.ok()) << json.status();
  absl::StatusOr<v1::IrGraph> read = record::sidecar::ParseIrRecord(*json);
  ASSERT_TRUE(read.ok()) << read.status();
  read->set_kind("wrapper");
  EXPECT_EQ(read->SerializeAsString(), graph.SerializeAsString()) << read->DebugString() << graph.DebugString();
}

TEST(WrapperGraph, AScatterReadsAndWritesItsTarget) {
  const v1::IrGraph graph = MakeGraph(ElementUpdatePlan());
  std::vector<std::string> values;
  for (const v1::IrNode& node : graph.nodes()) {
    if (node.target() == "scatter") values.push_back(node.id() + " " + node.value_json());
  }
  EXPECT_THAT(values, ElementsAre(R"(g0:7:scatter {"dimension": 1, "reduce": ""})",
                                  R"(g0:8:scatter {"dimension": 0, "reduce": "sum"})",
                                  R"(g0:9:scatter {"dimension": 0, "reduce": "amax"})",
                                  R"(g0:10:scatter {"dimension": 0, "reduce": "mean"})",
                                  R"(g0:11:scatter {"dimension": 1, "reduce": "", "number": 0.30000001192092896})",
                                  R"(g0:12:scatter {"dimension": 0, "reduce": "sum", "number": 0.125})"));
  EXPECT_THAT(Edges(graph, "data"),
              ::testing::IsSupersetOf({"g0:2:softmax > g0:7:scatter [0]", "g0:columns > g0:7:scatter [1]",
                                       "g0:7:scatter > g0:8:scatter [0]", "g0:12:scatter > g0:output [1]"}));
}

TEST(WrapperGraph, JoinedTensorsAreReadInTheirOrder) {
  const v1::IrGraph graph = MakeGraph(JoinedPlan());
  EXPECT_THAT(Edges(graph, "data"),
              ::testing::IsSupersetOf({"g0:x > g0:5:concatenate [0]", "g0:wide > g0:5:concatenate [1]",
                                       "g0:turned > g0:5:concatenate [2]", "g0:5:concatenate > g0:output [1]"}));
  EXPECT_THAT(Edges(graph, "memory"), ::testing::Contains("g0:rows > g0:5:concatenate [3]"));
}

// Edges connect the writers in both branches with the readers behind a conditional, and earlier writers with the
// readers in a branch.
TEST(WrapperGraph, BranchesAreGraphsOfTheirOwn) {
  PlanBuilder b("branches");
  const BufferRef x = b.Input("x", DType::kF32, {4, 8});
  const BufferRef flag = b.Input("flag", DType::kBool, {});
  const BufferRef memory = b.Call("exp", {x}, {.names = {"memory"}})[0];
  b.If(flag);
  b.Call("softmax", {b.Call("exp", {memory}, {.names = {"inner"}})[0]}, {.into = {memory}});
  b.EndIf();
  b.If(flag);
  b.Else();
  b.Call("softmax", {x}, {.into = {memory}});
  b.EndIf();
  b.Output(memory);
  const v1::IrGraph graph = MakeGraph(b.Finish());
  EXPECT_THAT(Nodes(graph),
              ElementsAre("g0:x: x", "g0:flag: flag", "g0:memory: allocate", "g0:2:exp: call_kernel", "g0:4:if: if",
                          "g1:inner: allocate", "g1:7:exp: call_kernel", "g1:8:softmax: call_kernel",
                          "g1:9:inner: free_if_not_reused", "g0:11:end_if: end_if", "g0:12:if: if",
                          "g3:17:softmax: call_kernel", "g0:19:end_if: end_if", "g0:output: output"));
  EXPECT_THAT(Edges(graph, "data"),
              ElementsAre("g0:x > g0:2:exp [0]", "g0:flag > g0:4:if [0]", "g0:2:exp > g1:7:exp [0]",
                          "g1:7:exp > g1:8:softmax [0]", "g0:4:if > g0:11:end_if [0]",
                          "g1:8:softmax > g0:11:end_if [1]", "g0:2:exp > g0:11:end_if [1]", "g0:flag > g0:12:if [0]",
                          "g0:x > g3:17:softmax [0]", "g0:12:if > g0:19:end_if [0]", "g0:11:end_if > g0:19:end_if [1]",
                          "g3:17:softmax > g0:19:end_if [1]", "g0:19:end_if > g0:output [0]"));
  EXPECT_EQ(graph.nodes(10).value_json(), R"({"graphs": [2, 3]})");
  EXPECT_EQ(graph.nodes(6).region_kind(), "WrapperSubgraphInfo");
  EXPECT_THAT(graph.attributes_json(), HasSubstr(R"("num_graphs": 4)"));
  EXPECT_THAT(graph.attributes_json(),
              HasSubstr(R"({"graph_id": 3, "region_kind": "WrapperSubgraphInfo", "block_ids": [], "name": "else_1"})"));
}

}  // namespace
}  // namespace telemetry::worker::wrapper
