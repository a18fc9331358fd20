#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/record/sidecar/ir_record.h"
#include "tests/worker/ir/random_kernel.h"
#include "worker/ir/graph_record/ir_graph_record.h"
#include "worker/ir/reference/reference.h"

// Tests properties that hold for every kernel on random kernels. A failure names its seed. The seeds of a test are the
// same in every run.

namespace telemetry::worker::ir {
namespace {

constexpr uint64_t kSeeds = 2000;

reference::Tensors Evaluate(const RandomKernel& kernel, reference::Options options) {
  options.scalars = kernel.scalars;
  reference::Tensors tensors = kernel.inputs;
  const absl::Status status = reference::Evaluate(kernel.ir, options, &tensors);
  EXPECT_TRUE(status.ok()) << "seed " << kernel.seed << ": " << status << "\n" << DebugString(kernel.ir);
  return tensors;
}

void ExpectSameOutputs(const RandomKernel& kernel, const reference::Tensors& expected,
                       const reference::Tensors& actual) {
  for (const auto& [tensor, tolerance] : kernel.tolerances) {
    const auto at = static_cast<size_t>(tensor);
    ASSERT_LT(at, std::min(expected.size(), actual.size()));
    const Comparison comparison = Compare(expected[at], actual[at], tolerance);
    EXPECT_TRUE(comparison.ok()) << "seed " << kernel.seed << ", " << kernel.ir.tensors[at].name << ": "
                                 << comparison.ToString() << "\n"
                                 << DebugString(kernel.ir);
  }
}

TEST(RandomKernels, KeepTheRulesOfTheIr) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const RandomKernel kernel = MakeRandomKernel(seed);
    const absl::Status verified = Verify(kernel.ir);
    ASSERT_TRUE(verified.ok()) << "seed " << seed << ": " << verified << "\n" << DebugString(kernel.ir);
  }
}

TEST(RandomKernels, AreTheSameForASeed) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const RandomKernel one = MakeRandomKernel(seed);
    const RandomKernel two = MakeRandomKernel(seed);
    EXPECT_EQ(DebugString(one.ir), DebugString(two.ir));
    for (size_t i = 0; i < one.inputs.size(); ++i) EXPECT_EQ(ToBytes(one.inputs[i]), ToBytes(two.inputs[i]));
  }
}

TEST(RandomKernels, CoverEveryOperation) {
  std::set<Op> used;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const RandomKernel kernel = MakeRandomKernel(seed);
    for (const Graph& graph : kernel.ir.graphs) {
      for (const Node& node : graph.nodes) used.insert(node.op);
    }
  }
  for (int op = 0; op <= static_cast<int>(kLastOp); ++op) {
    EXPECT_TRUE(used.contains(static_cast<Op>(op))) << BaseName(static_cast<Op>(op));
  }
}

// Checks that no element from beyond an end reaches a result, where it would be NaN or a conspicuous integer.
TEST(RandomKernels, GiveFiniteResultsThatDoNotDependOnTheBlocks) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const RandomKernel kernel = MakeRandomKernel(seed);
    const reference::Tensors small = Evaluate(kernel, {.default_block = 5});
    const reference::Tensors large = Evaluate(kernel, {.default_block = 32});
    ExpectSameOutputs(kernel, large, small);
    for (const auto& [tensor, tolerance] : kernel.tolerances) {
      for (const double value : large[static_cast<size_t>(tensor)].data) {
        ASSERT_TRUE(std::isfinite(value)) << "seed " << seed << "\n" << DebugString(kernel.ir);
      }
    }
    if (HasFailure()) break;
  }
}

TEST(RandomKernels, GiveTheSameResultsRolled) {
  int64_t alternates = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const RandomKernel kernel = MakeRandomKernel(seed);
    if (kernel.ir.rolled.empty()) continue;
    const reference::Tensors expected = Evaluate(kernel, {});
    for (const RolledReduction& rolled : kernel.ir.rolled) {
      if (rolled.original_graph != kernel.ir.root) continue;
      ++alternates;
      ExpectSameOutputs(kernel, expected, Evaluate(kernel, {.default_block = 7, .rolled_axes = rolled.axes}));
    }
    if (HasFailure()) break;
  }
  EXPECT_GT(alternates, 500);
}

// The positions of every edge, by (source, target, kind).
using Edges = std::map<std::tuple<std::string, std::string, std::string>, std::vector<int>>;

std::string NodeId(const Graph& graph, NodeRef ref) {
  return "g" + std::to_string(graph.id) + ":" + graph.at(ref).name;
}

std::vector<std::string> PlaceholderIds(const Graph& graph) {
  std::vector<std::string> ids;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (graph.nodes[i].op == Op::kPlaceholder) ids.push_back(NodeId(graph, NodeRef{static_cast<int>(i)}));
  }
  return ids;
}

// Returns the values that a control-flow node passes: all that it uses except the condition of an if and the end of a
// for loop.
std::vector<NodeRef> PassedBy(const Node& node) {
  std::vector<NodeRef> passed = CollectUses(node);
  if (node.op == Op::kIf) passed.erase(passed.begin());
  const bool has_end =
      node.op == Op::kForLoop && node.args.size() > 2 && std::holds_alternative<NodeRef>(node.args[2].value);
  if (has_end) passed.pop_back();
  return passed;
}

void AddLive(const DeviceIr& ir, int graph, std::set<int>* live) {
  live->insert(graph);
  for (const Node& node : ir.graphs[static_cast<size_t>(graph)].nodes) {
    for (const int child : node.graphs) AddLive(ir, child, live);
  }
}

Edges EdgesOfIr(const DeviceIr& ir) {
  std::set<int> live;
  AddLive(ir, ir.root, &live);
  std::set<int> alternates;
  for (const RolledReduction& rolled : ir.rolled) alternates.insert(rolled.rolled_graph);
  Edges edges;
  for (const Graph& graph : ir.graphs) {
    if (alternates.contains(graph.id)) continue;
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      const Node& node = graph.nodes[i];
      const std::vector<NodeRef> uses = CollectUses(node);
      for (size_t use = 0; use < uses.size(); ++use) {
        const auto edge = std::tuple(NodeId(graph, uses[use]), NodeId(graph, NodeRef{static_cast<int>(i)}), "data");
        edges[edge].push_back(static_cast<int>(use));
      }
      if (!live.contains(graph.id)) continue;
      for (const int child : node.graphs) {
        const std::vector<NodeRef> passed = PassedBy(node);
        const std::vector<std::string> placeholders = PlaceholderIds(ir.graphs[static_cast<size_t>(child)]);
        EXPECT_EQ(passed.size(), placeholders.size());
        for (size_t use = 0; use < std::min(passed.size(), placeholders.size()); ++use) {
          edges[std::tuple(NodeId(graph, passed[use]), placeholders[use], "region")].push_back(static_cast<int>(use));
        }
      }
    }
  }
  return edges;
}

Edges EdgesOfRecord(const record::Json& record) {
  Edges edges;
  for (const record::Json& link : record.Find("links")->items) {
    const auto edge = std::tuple(link.Find("source")->text, link.Find("target")->text, link.Find("edge_kind")->text);
    EXPECT_FALSE(edges.contains(edge)) << "two edges from " << std::get<0>(edge) << " to " << std::get<1>(edge);
    for (const record::Json& position : link.Find("arg_positions")->items) {
      edges[edge].push_back(std::stoi(position.text));
    }
  }
  return edges;
}

TEST(RandomKernels, HaveTheirEdgesInTheGraphRecordAndNoOthers) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const RandomKernel kernel = MakeRandomKernel(seed);
    const record::Json record = graph_record::ExtractIrGraph(kernel.ir, {.on_warning = [&](const std::string& warning) {
                                                               ADD_FAILURE() << "seed " << seed << ": " << warning;
                                                             }});
    ASSERT_EQ(EdgesOfRecord(record), EdgesOfIr(kernel.ir)) << "seed " << seed << "\n" << DebugString(kernel.ir);
    if (HasFailure()) break;
  }
}

TEST(RandomKernels, HaveRecordsThatTheCodecGivesBack) {
  for (uint64_t seed = 0; seed < kSeeds; seed += 20) {
    const RandomKernel kernel = MakeRandomKernel(seed);
    v1::Run run;
    run.set_run_id(std::string(64, 'a'));
    run.set_kernel_id(std::string(64, 'b'));
    run.set_kernel_name(kernel.ir.kernel_name);
    run.set_input_shapes("[(4, 4)]");
    const record::Json record = graph_record::ExtractIrGraph(kernel.ir, {.run_id = run.run_id(),
                                                                         .kernel_id = run.kernel_id(),
                                                                         .kernel_name = run.kernel_name(),
                                                                         .input_shapes = run.input_shapes(),
                                                                         .device = "opencl:0"});
    const absl::StatusOr<v1::IrGraph> parsed = record::sidecar::ParseIrRecord(record);
    ASSERT_TRUE(parsed.ok()) << "seed " << seed << ": " << parsed.status();
    EXPECT_EQ(record::sidecar::FormatIrRecord(*parsed, run), record::ToJson(record)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace telemetry::worker::ir
