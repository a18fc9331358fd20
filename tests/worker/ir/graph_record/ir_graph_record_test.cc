#include "worker/ir/graph_record/ir_graph_record.h"

#include <algorithm>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/record/json.h"
#include "proto/record/sidecar/ir_record.h"
#include "tests/paths.h"
#include "tests/worker/ir/test_kernels.h"

namespace telemetry::worker::ir {
namespace {

using device::DType;
using record::Json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

// A record with accessors for tests. Every warning is a test failure unless the test passes a list for warnings.
class Record {
 public:
  explicit Record(const DeviceIr& ir, std::vector<std::string>* warnings = nullptr) {
    json_ = graph_record::ExtractIrGraph(ir, {.run_id = std::string(64, 'a'),
                                              .kernel_id = std::string(64, 'b'),
                                              .kernel_name = ir.kernel_name,
                                              .input_shapes = "[(70, 50)]",
                                              .device = "cuda:0",
                                              .on_warning = [warnings](const std::string& warning) {
                                                if (warnings == nullptr) ADD_FAILURE() << warning;
                                                if (warnings != nullptr) warnings->push_back(warning);
                                              }});
  }

  const Json& json() const { return json_; }
  const Json& Attribute(const std::string& name) const { return *json_.Find("graph")->Find(name); }

  std::string Feature(const std::string& id, const std::string& feature) const {
    for (const Json& node : json_.Find("nodes")->items) {
      if (node.Find("id")->text == id) return ToJson(*node.Find(feature));
    }
    return "no node " + id;
  }

  // Returns "source > target [positions]" of each edge of the kind.
  std::vector<std::string> Edges(const std::string& kind) const {
    std::vector<std::string> edges;
    for (const Json& link : json_.Find("links")->items) {
      if (link.Find("edge_kind")->text != kind) continue;
      edges.push_back(link.Find("source")->text + " > " + link.Find("target")->text + " " +
                      ToJson(*link.Find("arg_positions")));
    }
    return edges;
  }

 private:
  Json json_;
};

DeviceIr AddKernel() {
  return TraceKernel("add", {{"x", DType::kF16, {70, 50}}, {"y", DType::kF16, {70, 50}}}, TraceAdd);
}
DeviceIr SoftmaxKernel() { return TraceKernel("softmax", {{"x", DType::kF16, {70, 50}}}, TraceSoftmax); }
DeviceIr BmmKernel() {
  return TraceKernel("bmm", {{"a", DType::kF16, {2, 30, 40}}, {"b", DType::kF16, {2, 40, 50}}}, TraceBmm);
}
DeviceIr AttentionKernel() {
  const std::vector<int64_t> sizes = {2, 40, 16};
  return TraceKernel("attention", {{"q", DType::kF32, sizes}, {"k", DType::kF32, sizes}, {"v", DType::kF32, sizes}},
                     TraceAttention);
}

std::vector<std::string> Keys(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& member : object.members) keys.push_back(member.first);
  return keys;
}

// Returns a record that another program wrote.
Json RealRecord(const std::string& name) {
  std::ifstream file(TestdataDir() + "/helion-pr2750/" + name + ".ir.jsonl");
  std::string line;
  std::getline(file, line);
  absl::StatusOr<Json> json = record::ParseJson(line);
  EXPECT_TRUE(json.ok()) << json.status();
  return json.ok() ? *std::move(json) : Json();
}

TEST(IrGraphRecordTest, HasTheKeysOfRealRecordsInTheirOrder) {
  const Record record(SoftmaxKernel());
  const Json real = RealRecord("softmax");
  EXPECT_EQ(Keys(record.json()), Keys(real));
  for (const char* list : {"nodes", "links"}) {
    for (const Json& part : record.json().Find(list)->items) EXPECT_EQ(Keys(part), Keys(real.Find(list)->items[0]));
  }
  EXPECT_EQ(Keys(*record.json().Find("graph")), Keys(*real.Find("graph")));
  EXPECT_EQ(Keys(record.Attribute("graphs").items[0]), Keys(real.Find("graph")->Find("graphs")->items[0]));
  EXPECT_EQ(Keys(record.Attribute("rolled_reductions").items[0]),
            Keys(real.Find("graph")->Find("rolled_reductions")->items[0]));
}

// Checks that one kernel written in two languages has the same edges, except for the names of nodes.
TEST(IrGraphRecordTest, HasTheRootEdgesThatARealRecordOfTheSameKernelHas) {
  const auto targets = [](const Json& record) {
    std::map<std::string, std::string> target_of;
    for (const Json& node : record.Find("nodes")->items) target_of[node.Find("id")->text] = node.Find("target")->text;
    std::multiset<std::string> edges;
    for (const Json& link : record.Find("links")->items) {
      if (!link.Find("source")->text.starts_with("g0:")) continue;
      edges.insert(target_of[link.Find("source")->text] + " > " + target_of[link.Find("target")->text] + " " +
                   ToJson(*link.Find("arg_positions")));
    }
    return edges;
  };
  // Stores round to the tensor's dtype in both kernels: there is a conversion before each store.
  EXPECT_EQ(targets(Record(SoftmaxKernel()).json()), targets(RealRecord("softmax")));
}

TEST(IrGraphRecordTest, SaysOfEachNodeWhatThereIsToSay) {
  const Record record(SoftmaxKernel());
  EXPECT_EQ(record.Feature("g0:x", "target"), "\"helion.language._tracing_ops._host_tensor\"");
  EXPECT_EQ(record.Feature("g0:x", "shape"), R"(["70", "50"])");
  EXPECT_EQ(record.Feature("g0:x", "concrete_stride"), "[50, 1]");
  EXPECT_EQ(record.Feature("g0:x", "device"), "\"cuda:0\"");
  EXPECT_EQ(record.Feature("g0:block_size_0", "dtype"), "\"SymInt\"");
  EXPECT_EQ(record.Feature("g0:block_size_0", "value"), "\"u0\"");
  EXPECT_EQ(record.Feature("g0:block_size_0", "shape"), "null");
  EXPECT_EQ(record.Feature("g0:load", "dtype"), "\"torch.float16\"");
  EXPECT_EQ(record.Feature("g0:load", "shape"), R"(["u0", "u1"])");
  EXPECT_EQ(record.Feature("g0:load", "concrete_shape"), "[64, 64]");
  EXPECT_EQ(record.Feature("g0:load", "stride"), R"j(["Max(1, u1)", "1"])j");
  EXPECT_EQ(record.Feature("g0:load", "concrete_stride"), "[64, 1]");
  EXPECT_EQ(record.Feature("g0:load", "lowering_class"), "\"APIFuncLowering\"");
  EXPECT_EQ(record.Feature("g0:amax", "lowering_class"), "\"ReductionLowering\"");
  EXPECT_EQ(record.Feature("g0:amax", "reduction_type"), "\"max\"");
  EXPECT_EQ(record.Feature("g0:amax", "reduction_ranges"), R"(["u1"])");
  EXPECT_EQ(record.Feature("g0:amax", "pointwise_ranges"), "null");
  EXPECT_EQ(record.Feature("g0:sub", "lowering_class"), "\"PointwiseLowering\"");
  EXPECT_EQ(record.Feature("g0:sub", "pointwise_ranges"), R"(["u0", "u1"])");
  EXPECT_EQ(record.Feature("g0:sub", "input_dtypes"), R"(["torch.float32", "torch.float32"])");
  EXPECT_EQ(record.Feature("g0:sub", "input_shapes"), R"([["u0", "u1"], ["u0"]])");
  EXPECT_EQ(record.Feature("g0:sub", "reduction_type"), "null");
  EXPECT_EQ(record.Feature("g0:store", "dtype"), "null");
  EXPECT_THAT(record.Feature("g0:exp", "source_loc"), HasSubstr("test_kernels.cc:"));
}

TEST(IrGraphRecordTest, PrintsStridesOfTilesAsTorchDoes) {
  const Record record(AttentionKernel());
  // The dimensions are a batch of one, a block that the config chooses, and a reduction axis of 16.
  EXPECT_EQ(record.Feature("g0:load", "shape"), R"(["1", "u1", "u2"])");
  EXPECT_EQ(record.Feature("g0:load", "concrete_shape"), "[1, 64, 16]");
  EXPECT_EQ(record.Feature("g0:load", "stride"), R"j(["Max(1, u1)*Max(1, u2)", "Max(1, u2)", "1"])j");
  EXPECT_EQ(record.Feature("g0:load", "concrete_stride"), "[1024, 16, 1]");
}

TEST(IrGraphRecordTest, KeepsSymbolsOfSizesWithTheirValues) {
  TraceInputs inputs = {.kernel_name = "dynamic"};
  inputs.tensors = {StaticTensor({"x", DType::kF32, {70, 50}}), StaticTensor({"y", DType::kF32, {70, 50}})};
  inputs.tensors[0].sizes[0] = {.text = "s0", .value = 70, .is_static = false, .tensor = 0, .dimension = 0};
  Trace trace(std::move(inputs));
  TraceAdd(trace);
  const absl::StatusOr<DeviceIr> ir = trace.Finish();
  ASSERT_TRUE(ir.ok()) << ir.status();
  const Record record(*ir);
  EXPECT_EQ(record.Feature("g0:x", "shape"), R"(["s0", "50"])");
  EXPECT_EQ(record.Feature("g0:x", "concrete_shape"), "[70, 50]");
  EXPECT_EQ(record.Feature("g0:out", "shape"), R"(["s0", "50"])");
}

TEST(IrGraphRecordTest, APointwiseKernelHasDataEdgesOnly) {
  const Record record(AddKernel());
  EXPECT_THAT(record.Edges("region"), IsEmpty());
  EXPECT_THAT(record.Attribute("rolled_reductions").items, IsEmpty());
  EXPECT_EQ(ToJson(record.Attribute("num_graphs")), "1");
  EXPECT_THAT(record.Edges("data"), testing::Contains("g0:load > g0:add [0]"));
}

TEST(IrGraphRecordTest, APairOfNodesHasOneEdgeWithAllItsOccurrences) {
  const DeviceIr ir = TraceKernel("square", {{"x", DType::kF32, {70}}}, [](Trace& t) {
    const TensorRef x = t.Tensor("x");
    const TensorRef out = t.OutputLike("out", x);
    const AxisRef m = t.Tile(t.SizeOf(x, 0));
    const Value v = t.Load(x, {m});
    t.Store(out, {m}, v * v);
  });
  EXPECT_THAT(Record(ir).Edges("data"),
              UnorderedElementsAre("g0:x > g0:load [0]", "g0:block_size_0 > g0:load [1]", "g0:load > g0:mul [0, 1]",
                                   "g0:out > g0:store [0]", "g0:block_size_0 > g0:store [1]", "g0:mul > g0:store [2]"));
}

TEST(IrGraphRecordTest, RolledReductionsAreMetadataAndNoEdges) {
  const DeviceIr layer_norm =
      TraceKernel("layer_norm", {{"x", DType::kF16, {70, 50}}, {"w", DType::kF16, {50}}}, TraceLayerNorm);
  for (const DeviceIr& ir : {SoftmaxKernel(), layer_norm}) {
    const Record record(ir);
    ASSERT_THAT(record.Attribute("rolled_reductions").items, SizeIs(1)) << ir.kernel_name;
    EXPECT_EQ(
        ToJson(record.Attribute("rolled_reductions").items[0]),
        R"({"original_graph_id": 0, "rolled_block_ids": [1], "used_rdim": true, "can_be_rolled_by_caller": false})");
    EXPECT_THAT(record.Edges("region"), IsEmpty());
    for (const std::string& edge : record.Edges("data")) {
      const size_t target = edge.find(" > ") + 3;
      EXPECT_EQ(edge.substr(0, edge.find(':')), edge.substr(target, edge.find(':', target) - target)) << edge;
    }
    // The loops are recorded as graphs; the alternate that calls them is not.
    int64_t roots = 0;
    for (const Json& graph : record.Attribute("graphs").items) {
      const std::string kind = graph.Find("region_kind")->text;
      roots += kind == "RootGraphInfo" ? 1 : 0;
      EXPECT_TRUE(kind == "RootGraphInfo" || kind == "ReductionLoopGraphInfo") << kind;
    }
    EXPECT_EQ(roots, 1);
    EXPECT_GE(record.Attribute("graphs").items.size(), 3U);
  }
}

TEST(IrGraphRecordTest, BmmAndAttentionHaveRegionEdgesIntoTheirLoops) {
  EXPECT_THAT(Record(BmmKernel()).Edges("region"), ElementsAre(testing::StartsWith("g0:full > g1:")));
  const std::vector<std::string> edges = Record(AttentionKernel()).Edges("region");
  // The edges are for the captured query and three carried values.
  EXPECT_THAT(edges, SizeIs(4));
  EXPECT_THAT(edges, testing::Each(AllOf(testing::StartsWith("g0:"), HasSubstr(" > g1:"))));
  EXPECT_THAT(edges[0], testing::StartsWith("g0:load > "));
}

TEST(IrGraphRecordTest, BranchesLoopsAndHelperFunctionsHaveRegionEdges) {
  const DeviceIr ir = TraceKernel("control", {{"x", DType::kF32, {70}}}, TraceControl, {{"n", DType::kI32}});
  const std::vector<std::string> edges = Record(ir).Edges("region");
  std::set<std::string> targets;
  for (const std::string& edge : edges) targets.insert(edge.substr(edge.find(" > ") + 3, 3));
  // The edges are: one value into both branches, two carried values each into condition and body, two arguments.
  EXPECT_THAT(edges, SizeIs(8));
  EXPECT_THAT(targets, ElementsAre("g1:", "g2:", "g3:", "g4:", "g5:"));
}

TEST(IrGraphRecordTest, ComesBackFromTheCodecByteForByte) {
  for (const DeviceIr& ir : {AddKernel(), SoftmaxKernel(), BmmKernel(), AttentionKernel()}) {
    const Record record(ir);
    const absl::StatusOr<v1::IrGraph> parsed = record::sidecar::ParseIrRecord(record.json());
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(static_cast<size_t>(parsed->nodes_size()), record.json().Find("nodes")->items.size());
    for (const v1::IrNode& node : parsed->nodes()) {
      EXPECT_THAT(node.extra_json(), IsEmpty());
      EXPECT_THAT(node.omitted(), IsEmpty());
    }
    v1::Run run;
    run.set_run_id(std::string(64, 'a'));
    run.set_kernel_id(std::string(64, 'b'));
    run.set_kernel_name(ir.kernel_name);
    run.set_input_shapes("[(70, 50)]");
    EXPECT_EQ(record::sidecar::FormatIrRecord(*parsed, run), record::ToJson(record.json()));
  }
}

TEST(IrGraphRecordTest, KnowsEveryKindOfGraph) {
  std::set<std::string> kinds;
  for (int kind = 0; kind <= static_cast<int>(kLastGraphKind); ++kind) {
    DeviceIr ir = AddKernel();
    ir.graphs[0].kind = static_cast<GraphKind>(kind);
    const Record record(ir);  // a warning is a failure
    kinds.insert(record.Attribute("graphs").items[0].Find("region_kind")->text);
  }
  EXPECT_EQ(kinds.size(), static_cast<size_t>(kLastGraphKind) + 1);
  EXPECT_FALSE(kinds.contains(""));
}

TEST(IrGraphRecordTest, WarnsOnceOfAKindThatItDoesNotKnowAndGoesOn) {
  DeviceIr ir = BmmKernel();
  for (Graph& graph : ir.graphs) graph.kind = static_cast<GraphKind>(77);
  std::vector<std::string> warnings;
  const Record record(ir, &warnings);
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("kind 77")));
  EXPECT_EQ(record.Feature("g0:full", "region_kind"), "\"kind 77\"");
  EXPECT_THAT(record.Edges("region"), SizeIs(1));
}

// Checks that every malformed control-flow node gives one warning and no edge to a missing node, and does not change
// the rest of the record.
TEST(IrGraphRecordTest, WarnsOfMalformedControlFlowAndGoesOn) {
  const auto is_loop = [](const Node& node) { return node.op == Op::kForLoop; };
  const std::vector<std::function<void(Node*)>> breakages = {
      [](Node* node) { node->graphs.clear(); },
      [](Node* node) { node->graphs = {99}; },
      [](Node* node) { node->graphs = {-1}; },
      [](Node* node) {
        node->graphs = {1, 1};
      },
      [](Node* node) { node->args.clear(); },
      [](Node* node) { node->args[0] = Arg{int64_t{3}}; },
      [](Node* node) { node->args[1] = Arg{Arg::List{}}; },
      [](Node* node) { node->args[1] = Arg{Arg::List{Arg{NodeRef{999}}}}; },
  };
  for (size_t i = 0; i < breakages.size(); ++i) {
    DeviceIr ir = BmmKernel();
    std::vector<Node>& nodes = ir.graphs[0].nodes;
    breakages[i](&*std::find_if(nodes.begin(), nodes.end(), is_loop));
    std::vector<std::string> warnings;
    const Record record(ir, &warnings);
    EXPECT_THAT(warnings, SizeIs(1)) << "breakage " << i;
    EXPECT_THAT(record.Edges("region"), IsEmpty()) << "breakage " << i;
    EXPECT_EQ(record.Feature("g1:dot", "target"), Record(BmmKernel()).Feature("g1:dot", "target"));
    EXPECT_THAT(record.Feature("g1:dot", "target"), HasSubstr("dot"));
  }
}

TEST(IrGraphRecordTest, SurvivesAnIrOfNonsense) {
  DeviceIr ir = BmmKernel();
  ir.root = 55;
  for (Graph& graph : ir.graphs) {
    for (Node& node : graph.nodes) {
      node.op = static_cast<Op>(node.name.size() * 31);
      node.shape = {-1, 1000};
      node.tensor = node.scalar = node.axis = 12345;
      node.graphs = {-7, 1 << 20};
      node.args.push_back(Arg{NodeRef{-5}});
      node.name = "\xFF\xFE";
    }
  }
  std::vector<std::string> warnings;
  const Record record(ir, &warnings);
  EXPECT_FALSE(warnings.empty());
  EXPECT_TRUE(record::ParseJson(ToJson(record.json())).ok());
  EXPECT_TRUE(record::sidecar::ParseIrRecord(record.json()).ok());
}

TEST(IrGraphRecordTest, CutsLongTextsAtACharacter) {
  DeviceIr ir = AddKernel();
  std::string path;
  while (path.size() < 1000) path += "ü/";
  for (Node& node : ir.graphs[0].nodes) node.location = {.file = path, .line = 7};
  const Record record(ir);
  for (const Json& node : record.json().Find("nodes")->items) {
    const std::string& location = node.Find("source_loc")->text;
    EXPECT_LE(location.size(), graph_record::kMaxTextBytes);
    EXPECT_THAT(location, testing::EndsWith(graph_record::kTruncated));
  }
  EXPECT_TRUE(record::ParseJson(ToJson(record.json())).ok());
}

TEST(IrGraphRecordTest, IsTheSameEachTime) {
  EXPECT_EQ(ToJson(Record(AttentionKernel()).json()), ToJson(Record(AttentionKernel()).json()));
}

}  // namespace
}  // namespace telemetry::worker::ir
