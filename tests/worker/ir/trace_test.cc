#include "worker/ir/trace.h"

#include <functional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/worker/ir/sample_kernels.h"

namespace telemetry::worker::ir {
namespace {

using device::DType;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Function = std::function<void(Trace&)>;

DeviceIr MustTrace(TraceInputs inputs, const Function& function) {
  Trace trace(std::move(inputs));
  function(trace);
  absl::StatusOr<DeviceIr> ir = trace.Finish();
  EXPECT_TRUE(ir.ok()) << ir.status();
  return ir.ok() ? *std::move(ir) : DeviceIr();
}

// Returns the text of one graph, one node per line, without source locations.
std::string GraphText(const DeviceIr& ir, int graph) {
  const std::string all = DebugString(ir);
  const size_t begin = all.find('\n', all.find("graph " + std::to_string(graph) + " ")) + 1;
  std::string text;
  for (size_t at = begin; all.compare(at, 2, "  ") == 0; at = all.find('\n', at) + 1) {
    const std::string line = all.substr(at + 2, all.find('\n', at) - at - 2);
    text += line.substr(0, line.find("  #")) + "\n";
  }
  return text;
}

const Node& NodeNamed(const Graph& graph, const std::string& name) {
  for (const Node& node : graph.nodes) {
    if (node.name == name) return node;
  }
  ADD_FAILURE() << "no node " << name;
  return graph.nodes.back();
}

struct GraphCase {
  std::string name;
  TraceInputs inputs;
  Function function;
  std::vector<std::string> graphs;  // the text of the first graphs
};

class TracedGraphs : public ::testing::TestWithParam<GraphCase> {};

TEST_P(TracedGraphs, AreAsWritten) {
  const DeviceIr ir = MustTrace(GetParam().inputs, GetParam().function);
  for (size_t i = 0; i < GetParam().graphs.size(); ++i)
    EXPECT_EQ(GraphText(ir, static_cast<int>(i)), GetParam().graphs[i]);
}

TraceInputs TwoTensors() {
  return {.kernel_name = "add",
          .tensors = {DenseTensor("x", {20, 30}, DType::kF16), DenseTensor("y", {20, 30}, DType::kF16)}};
}

void TraceAdd(Trace& t) {
  const TensorRef x = t.Tensor("x");
  const TensorRef out = t.OutputLike("out", x);
  const AxisRef m = t.Tile(t.SizeOf(x, 0));
  const AxisRef n = t.Tile(t.SizeOf(x, 1));
  const Value a = t.Load(x, {m, n});
  const Value b = t.Load(t.Tensor("y"), {m, n});
  t.Store(out, {m, n}, a + b);
}

void TraceNestedLoops(Trace& t) {
  const TensorRef x = t.Tensor("x");
  const TensorRef out = t.Output("out", {t.SizeOf(x, 0)}, DType::kF32);
  const AxisRef m = t.Tile(t.SizeOf(x, 0));
  const Value bias = exp(t.Index(m));
  const Value zero = t.Full({m}, 0, DType::kF32);
  const auto outer = t.For(t.SizeOf(x, 1), {zero}, [&](AxisRef i, const Trace::Carried& sums) {
    return t.For(t.SizeOf(x, 2), sums, [&](AxisRef j, const Trace::Carried& inner) {
      return Trace::Carried{inner[0] + t.Sum(t.Sum(t.Load(x, {m, i, j}), j), i) * bias};
    });
  });
  t.Store(out, {m}, outer[0]);
}

void TraceBranches(Trace& t) {
  const TensorRef x = t.Tensor("x");
  const TensorRef out = t.OutputLike("out", x);
  const AxisRef m = t.Tile(t.SizeOf(x, 0));
  const Value v = t.Load(x, {m});
  const Value w = -v;
  const auto chosen = t.If(
      t.TileBegin(m) < 8, [&] { return Trace::Carried{v * 2.0}; }, [&] { return Trace::Carried{w}; });
  t.Store(out, {m}, chosen[0]);
}

INSTANTIATE_TEST_SUITE_P(
    Kernels, TracedGraphs,
    ::testing::Values(GraphCase{"add",
                                TwoTensors(),
                                TraceAdd,
                                {"%x = host_tensor()\n"
                                 "%block_size_0 = block_size(u0)\n"
                                 "%block_size_1 = block_size(u1)\n"
                                 "%load : f16[u0, u1] = load(%x, [%block_size_0, %block_size_1])\n"
                                 "%y = host_tensor()\n"
                                 "%load_1 : f16[u0, u1] = load(%y, [%block_size_0, %block_size_1])\n"
                                 "%add : f16[u0, u1] = add(%load, %load_1)\n"
                                 "%out = host_tensor()\n"
                                 "%store = store(%out, [%block_size_0, %block_size_1], %add)\n"
                                 "%output = output([])\n"}},
                      GraphCase{"softmax",
                                SoftmaxInputs(),
                                TraceSoftmax,
                                {"%x = host_tensor()\n"
                                 "%block_size_0 = block_size(u0)\n"
                                 "%load : f16[u0, u1] = load(%x, [%block_size_0, :u1])\n"
                                 "%convert_element_type : f32[u0, u1] = convert_element_type(%load, f32)\n"
                                 "%_mask_to : f32[u0, u1] = _mask_to(%convert_element_type, -inf)\n"
                                 "%amax : f32[u0] = amax(%_mask_to, axis=u1)\n"
                                 "%sub : f32[u0, u1] = sub(%convert_element_type, %amax)\n"
                                 "%exp : f32[u0, u1] = exp(%sub)\n"
                                 "%_mask_to_1 : f32[u0, u1] = _mask_to(%exp, 0)\n"
                                 "%sum_1 : f32[u0] = sum(%_mask_to_1, axis=u1)\n"
                                 "%div : f32[u0, u1] = div(%exp, %sum_1)\n"
                                 "%convert_element_type_1 : f16[u0, u1] = convert_element_type(%div, f16)\n"
                                 "%out = host_tensor()\n"
                                 "%store = store(%out, [%block_size_0, :u1], %convert_element_type_1)\n"
                                 "%output = output([])\n"}},
                      GraphCase{"matmul",
                                MatmulInputs(),
                                TraceMatmul,
                                {"%full : f32[u0, u1] = full(0)\n"
                                 "%_for_loop = _for_loop([], [%full], None, graph=1, axis=u2)\n"
                                 "%getitem : f32[u0, u1] = getitem(%_for_loop, 0)\n"
                                 "%convert_element_type : f16[u0, u1] = convert_element_type(%getitem, f16)\n"
                                 "%out = host_tensor()\n"
                                 "%block_size_0 = block_size(u0)\n"
                                 "%block_size_1 = block_size(u1)\n"
                                 "%store = store(%out, [%block_size_0, %block_size_1], %convert_element_type)\n"
                                 "%output = output([])\n",
                                 "%arg0_1 : f32[u0, u1] = arg()\n"
                                 "%a = host_tensor()\n"
                                 "%block_size_0 = block_size(u0)\n"
                                 "%block_size_2 = block_size(u2)\n"
                                 "%load : f16[u0, u2] = load(%a, [%block_size_0, %block_size_2])\n"
                                 "%b = host_tensor()\n"
                                 "%block_size_1 = block_size(u1)\n"
                                 "%load_1 : f16[u2, u1] = load(%b, [%block_size_2, %block_size_1])\n"
                                 "%_mask_to : f16[u0, u2] = _mask_to(%load, 0)\n"
                                 "%_mask_to_1 : f16[u2, u1] = _mask_to(%load_1, 0)\n"
                                 "%dot : f32[u0, u1] = dot(%_mask_to, %_mask_to_1, %arg0_1, axis=u2)\n"
                                 "%output = output([%dot])\n"}},
                      GraphCase{"nested_loops",
                                {.kernel_name = "nested", .tensors = {DenseTensor("x", {20, 30, 40})}},
                                TraceNestedLoops,
                                {"%tile_index : i32[u0] = tile_index(axis=u0)\n"
                                 "%convert_element_type : f32[u0] = convert_element_type(%tile_index, f32)\n"
                                 "%exp : f32[u0] = exp(%convert_element_type)\n"
                                 "%full : f32[u0] = full(0)\n"
                                 "%_for_loop = _for_loop([%exp], [%full], None, graph=1, axis=u1)\n"
                                 "%getitem : f32[u0] = getitem(%_for_loop, 0)\n"
                                 "%out = host_tensor()\n"
                                 "%block_size_0 = block_size(u0)\n"
                                 "%store = store(%out, [%block_size_0], %getitem)\n"
                                 "%output = output([])\n",
                                 "%arg0_1 : f32[u0] = arg()\n"
                                 "%arg1_1 : f32[u0] = arg()\n"
                                 "%_for_loop = _for_loop([%arg0_1], [%arg1_1], None, graph=2, axis=u2)\n"
                                 "%getitem : f32[u0] = getitem(%_for_loop, 0)\n"
                                 "%output = output([%getitem])\n"}},
                      GraphCase{"branches",
                                {.kernel_name = "branches", .tensors = {DenseTensor("x", {20})}},
                                TraceBranches,
                                {"%x = host_tensor()\n"
                                 "%block_size_0 = block_size(u0)\n"
                                 "%load : f32[u0] = load(%x, [%block_size_0])\n"
                                 "%neg : f32[u0] = neg(%load)\n"
                                 "%tile_begin : i32[] = tile_begin(axis=u0)\n"
                                 "%lt : bool[] = lt(%tile_begin, 8)\n"
                                 "%_if = _if(%lt, [%load, %neg], graph=1, graph=2)\n"
                                 "%getitem : f32[u0] = getitem(%_if, 0)\n"
                                 "%out = host_tensor()\n"
                                 "%store = store(%out, [%block_size_0], %getitem)\n"
                                 "%output = output([])\n",
                                 "%arg0_1 : f32[u0] = arg()\n"
                                 "%arg1_1 : f32[u0] = arg()\n"
                                 "%mul : f32[u0] = mul(%arg0_1, 2)\n"
                                 "%output = output([%mul])\n",
                                 "%arg0_1 : f32[u0] = arg()\n"
                                 "%arg1_1 : f32[u0] = arg()\n"
                                 "%output = output([%arg1_1])\n"}}),
    [](const auto& info) { return info.param.name; });

TEST(TraceAttentionTest, CapturesTheQueriesAndMakesTheScaleAgain) {
  const DeviceIr ir = MustTrace(AttentionInputs(), TraceAttention);
  const Node& loop = NodeNamed(ir.root_graph(), "_for_loop");
  const auto& captured = std::get<Arg::List>(loop.args[0].value);
  ASSERT_EQ(captured.size(), 1U);
  EXPECT_EQ(ir.root_graph().at(std::get<NodeRef>(captured[0].value)).name, "load");
  const Graph& body = ir.graphs[static_cast<size_t>(loop.graphs[0])];
  EXPECT_EQ(body.kind, GraphKind::kForLoop);
  EXPECT_THAT(body.axes, ElementsAre(3));
  EXPECT_EQ(body.nodes[0].shape, NodeNamed(ir.root_graph(), "load").shape);
  EXPECT_EQ(NodeNamed(body, "scale").op, Op::kScalar);
  EXPECT_EQ(NodeNamed(body, "dot").shape, (std::vector<int>{0, 1, 3}));
}

TEST(TraceTest, TracesWhileAndCall) {
  const DeviceIr ir = MustTrace({.kernel_name = "k", .tensors = {DenseTensor("x", {20})}}, [](Trace& t) {
    const TensorRef x = t.Tensor("x");
    const TensorRef out = t.OutputLike("out", x);
    const AxisRef m = t.Tile(t.SizeOf(x, 0));
    const Value limit = t.TileEnd(m);
    const auto done = t.While(
        {t.TileBegin(m), t.Load(x, {m})}, [&](const Trace::Carried& carried) { return carried[0] < limit; },
        [&](const Trace::Carried& carried) {
          const Value half = t.Call("half", {carried[1]}, [](const std::vector<Value>& a) { return a[0] * 0.5; });
          return Trace::Carried{carried[0] + 8, half};
        });
    t.Store(out, {m}, done[1]);
  });
  ASSERT_EQ(ir.graphs.size(), 4U);
  EXPECT_EQ(ir.graphs[1].kind, GraphKind::kWhileCondition);
  EXPECT_EQ(ir.graphs[2].kind, GraphKind::kWhileLoop);
  EXPECT_EQ(ir.graphs[3].kind, GraphKind::kHelperFunction);
  EXPECT_EQ(ir.graphs[3].name, "half");
  EXPECT_EQ(GraphText(ir, 1),
            "%arg0_1 : i32[] = arg()\n%arg1_1 : i32[] = arg()\n%arg2_1 : f32[u0] = arg()\n"
            "%lt : bool[] = lt(%arg1_1, %arg0_1)\n%output = output([%lt])\n");
  EXPECT_EQ(GraphText(ir, 2),
            "%arg0_1 : i32[] = arg()\n%arg1_1 : i32[] = arg()\n%arg2_1 : f32[u0] = arg()\n"
            "%half = invoke_subgraph([%arg2_1], graph=3)\n%getitem : f32[u0] = getitem(%half, 0)\n"
            "%add : i32[] = add(%arg1_1, 8)\n%output = output([%add, %getitem])\n");
}

// Checks that carried values keep the dtype and the axes of their initial values.
TEST(TraceTest, BringsCarriedValuesToTheirTypes) {
  const DeviceIr ir = MustTrace({.kernel_name = "k", .tensors = {DenseTensor("x", {20, 30})}}, [](Trace& t) {
    const TensorRef x = t.Tensor("x");
    const TensorRef out = t.OutputLike("out", x);
    const AxisRef m = t.Tile(t.SizeOf(x, 0));
    const AxisRef n = t.Tile(t.SizeOf(x, 1));
    const auto done = t.For(t.SizeOf(x, 0), {t.Full({m, n}, 1, DType::kF16)}, [&](AxisRef i, const Trace::Carried&) {
      return Trace::Carried{t.Sum(t.Load(x, {i, n}), i)};
    });
    EXPECT_EQ(done[0].dtype(), DType::kF16);
    EXPECT_THAT(done[0].shape(), ElementsAre(m.id, n.id));
    t.Store(out, {m, n}, done[0]);
  });
  EXPECT_THAT(GraphText(ir, 1), HasSubstr("%convert_element_type : f16[u1] = convert_element_type(%sum_1, f16)\n"
                                          "%full : f16[u0, u1] = full(-0)\n"
                                          "%add : f16[u0, u1] = add(%full, %convert_element_type)\n"));
}

TEST(TraceTest, BroadcastsByAxes) {
  MustTrace({.kernel_name = "k"}, [](Trace& t) {
    const AxisRef m = t.Tile(StaticSize(4));
    const AxisRef n = t.Tile(StaticSize(4));
    const AxisRef r = t.ReductionAxis(StaticSize(4));
    EXPECT_THAT((t.Index(m) + t.Index(n)).shape(), ElementsAre(0, 1));
    EXPECT_THAT((t.Index(n) + t.Full({m, n}, 1, DType::kI32)).shape(), ElementsAre(1, 0));
    EXPECT_THAT(t.Sum(t.Full({m, r, n}, 1, DType::kI32), r).shape(), ElementsAre(0, 1));
    EXPECT_THAT((t.TileBegin(m) + 1).shape(), ElementsAre());
  });
}

TEST(TraceTest, PromotesAsTorchDoes) {
  MustTrace({.kernel_name = "k", .scalars = {{"s", DType::kF32}}}, [](Trace& t) {
    const AxisRef m = t.Tile(StaticSize(4));
    const auto of = [&](DType dtype) { return t.Full({m}, 1, dtype); };
    const Value f32 = of(DType::kF32), f16 = of(DType::kF16), bf16 = of(DType::kBF16), i32 = of(DType::kI32);
    const Value boolean = of(DType::kBool);
    EXPECT_EQ((f16 + f16).dtype(), DType::kF16);
    EXPECT_EQ((f16 + bf16).dtype(), DType::kF32);
    EXPECT_EQ((f16 + f32).dtype(), DType::kF32);
    EXPECT_EQ((i32 + f16).dtype(), DType::kF16);
    EXPECT_EQ((boolean + i32).dtype(), DType::kI32);
    EXPECT_EQ((boolean * f16).dtype(), DType::kF16);
    EXPECT_EQ((f16 * 2.5).dtype(), DType::kF16);
    EXPECT_EQ((f16 * t.Scalar("s")).dtype(), DType::kF16);
    EXPECT_EQ((i32 * t.Scalar("s")).dtype(), DType::kF32);
    EXPECT_EQ((i32 * 2).dtype(), DType::kI32);
    EXPECT_EQ((i32 * 2.5).dtype(), DType::kF32);
    EXPECT_EQ((1 - boolean).dtype(), DType::kI32);
    EXPECT_EQ((f16 < i32).dtype(), DType::kBool);
    EXPECT_EQ(exp(i32).dtype(), DType::kF32);
    EXPECT_EQ(exp(bf16).dtype(), DType::kBF16);
    EXPECT_EQ(abs(i32).dtype(), DType::kI32);
    EXPECT_EQ((i32 / 2.0).dtype(), DType::kF32);
    EXPECT_EQ(t.Where(boolean, 1, 0).dtype(), DType::kI32);
    EXPECT_EQ(t.Where(boolean, f16, -kInfinity).dtype(), DType::kF16);
    EXPECT_EQ(t.Sum(f16, m).dtype(), DType::kF32);
    EXPECT_EQ(t.Sum(boolean, m).dtype(), DType::kI32);
    EXPECT_EQ(t.ArgMax(f32, m).dtype(), DType::kI32);
    EXPECT_EQ((boolean && !boolean).dtype(), DType::kBool);
  });
}

TEST(TraceTest, MasksOnceWithWhatChangesNothing) {
  const DeviceIr ir = MustTrace({.kernel_name = "k"}, [](Trace& t) {
    const AxisRef n = t.ReductionAxis(StaticSize(4));
    const Value i = t.Index(n);
    t.AMax(i, n);
    t.AMin(i, n);
    t.Prod(exp(i), n);
  });
  const std::string text = GraphText(ir, 0);
  EXPECT_THAT(text, HasSubstr("_mask_to(%tile_index, -2147483648)"));
  EXPECT_THAT(text, HasSubstr("_mask_to(%tile_index, 2147483647)"));
  EXPECT_THAT(text, HasSubstr("_mask_to(%exp, 1)"));
}

TEST(TraceTest, KnowsWhereNodesComeFrom) {
  int line = 0;
  const DeviceIr ir = MustTrace({.kernel_name = "k"}, [&](Trace& t) {
    const AxisRef m = t.Tile(StaticSize(4));
    const Value i = t.Index(m);
    line = __LINE__ - 1;
    exp(i);
  });
  EXPECT_EQ(NodeNamed(ir.root_graph(), "tile_index").location.file, "ir/trace_test.cc");
  EXPECT_EQ(NodeNamed(ir.root_graph(), "tile_index").location.line, line);
  EXPECT_EQ(NodeNamed(ir.root_graph(), "exp").location.line, line) << "operators take the latest location";
}

TEST(TraceTest, MakesDenseOutputsOfSymbolicSizes) {
  HostTensor x{.name = "x", .sizes = {DynamicSize("s0", 20), DynamicSize("s1", 30), StaticSize(4)}};
  x.strides = {DynamicSize("s2", 120), StaticSize(4), StaticSize(1)};
  const DeviceIr ir = MustTrace({.kernel_name = "k", .tensors = {x}}, [](Trace& t) {
    t.OutputLike("out", t.Tensor("x"));
    const Size rows = t.SizeOf(t.Tensor("x"), 0);
    EXPECT_EQ(rows.tensor, 0);
    EXPECT_EQ(rows.dimension, 0);
    EXPECT_EQ(t.Specialize(rows), 20);
    EXPECT_EQ(t.Specialize(rows), 20);
    EXPECT_EQ(t.Specialize(t.SizeOf(t.Tensor("x"), 2)), 4);
    // The size is not a number in the graph, which holds for other sizes too.
    const AxisRef n = t.ReductionAxis(rows);
    t.Mean(t.Index(n), n);
  });
  ASSERT_EQ(ir.tensors.size(), 2U);
  const HostTensor& out = ir.tensors[1];
  EXPECT_TRUE(out.is_output);
  EXPECT_EQ(out.strides[0].text, "4*s1");
  EXPECT_EQ(out.strides[0].value, 120);
  EXPECT_FALSE(out.strides[0].is_static);
  EXPECT_EQ(out.strides[1].text, "4");
  EXPECT_EQ(out.strides[2].text, "1");
  ASSERT_EQ(ir.specialized_sizes.size(), 1U) << "static sizes need no other trace";
  EXPECT_EQ(ir.specialized_sizes[0].text, "s0");
  EXPECT_THAT(GraphText(ir, 0), HasSubstr("%div : f32[] = div(%convert_element_type, %convert_element_type_1)"));
}

TEST(TraceTest, GivesConstantsAndScalars) {
  TraceInputs inputs{.kernel_name = "k"};
  inputs.constants = {{"causal", true}, {"eps", 1e-5}};
  inputs.scalar_values = {{"alpha", 2.5}};
  const DeviceIr ir = MustTrace(inputs, [](Trace& t) {
    EXPECT_TRUE(t.Constexpr<bool>("causal"));
    EXPECT_EQ(t.Constexpr<double>("eps"), 1e-5);
    EXPECT_EQ(t.SpecializeScalar("alpha"), 2.5);
  });
  EXPECT_EQ(ir.specialized_scalars.at("alpha"), 2.5);
}

struct ErrorCase {
  std::string name;
  Function function;
  std::string message;
};

class TraceErrors : public ::testing::TestWithParam<ErrorCase> {};

TEST_P(TraceErrors, SayWhatIsWrong) {
  TraceInputs inputs{.kernel_name = "bad",
                     .tensors = {DenseTensor("x", {20, 30}), DenseTensor("h", {30, 20}, DType::kF16)}};
  inputs.constants = {{"causal", true}};
  Trace trace(std::move(inputs));
  GetParam().function(trace);
  const absl::StatusOr<DeviceIr> ir = trace.Finish();
  EXPECT_EQ(ir.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(ir.status().message()), HasSubstr(GetParam().message));
}

// The first tensor, a grid axis for each of its dimensions, and its tile.
struct Tile {
  explicit Tile(Trace& t)
      : x(t.Tensor("x")), m(t.Tile(t.SizeOf(x, 0))), n(t.Tile(t.SizeOf(x, 1))), v(t.Load(x, {m, n})) {}
  TensorRef x;
  AxisRef m;
  AxisRef n;
  Value v;
};

Value LeakedFromALoop(Trace& t) {
  Value leaked;
  t.For(StaticSize(4), {}, [&](AxisRef i, const Trace::Carried&) {
    leaked = t.Index(i);
    return Trace::Carried{};
  });
  return leaked;
}

INSTANTIATE_TEST_SUITE_P(
    Mistakes, TraceErrors,
    ::testing::Values(
        ErrorCase{"tensor", [](Trace& t) { t.Tensor("z"); }, "kernel 'bad': there is no tensor 'z'"},
        ErrorCase{"scalar", [](Trace& t) { t.Scalar("z"); }, "there is no scalar 'z'"},
        ErrorCase{"constexpr", [](Trace& t) { t.Constexpr<int64_t>("causal"); }, "'causal' is missing or of another"},
        ErrorCase{"dimension", [](Trace& t) { t.SizeOf(t.Tensor("x"), 2); }, "tensor 'x' has no dimension 2"},
        ErrorCase{"output_twice", [](Trace& t) { t.OutputLike("x", t.Tensor("x")); }, "tensor 'x' already exists"},
        ErrorCase{"late_tile",
                  [](Trace& t) {
                    const Tile tile(t);
                    t.Tile(StaticSize(4));
                  },
                  "Tile() is called after the first computation"},
        ErrorCase{"rank",
                  [](Trace& t) {
                    const Tile tile(t);
                    t.Load(tile.x, {tile.m});
                  },
                  "tensor 'x' has 2 dimensions and is given 1 indices"},
        ErrorCase{"extent",
                  [](Trace& t) {
                    const Tile tile(t);
                    t.Load(tile.x, {tile.n, tile.m});
                  },
                  "the axis u1 of extent 30 indexes a dimension of size 20"},
        ErrorCase{"literal",
                  [](Trace& t) {
                    const Tile tile(t);
                    t.Load(tile.x, {int64_t{20}, tile.n});
                  },
                  "the index 20 is outside of a dimension of size 20"},
        ErrorCase{"gather",
                  [](Trace& t) {
                    const Tile tile(t);
                    t.Load(tile.x, {tile.m, tile.v});
                  },
                  "an index is f32, not an integer"},
        ErrorCase{"store",
                  [](Trace& t) {
                    const Tile tile(t);
                    t.Store(t.Output("out", {StaticSize(20)}, DType::kF32), {tile.m}, tile.v);
                  },
                  "the value stored to 'out' has the axis u1"},
        ErrorCase{"integer_division",
                  [](Trace& t) {
                    const Tile tile(t);
                    t.Index(tile.m) / 2;
                  },
                  "div of i32 is not supported"},
        ErrorCase{"bool_arithmetic",
                  [](Trace& t) {
                    const Tile tile(t);
                    (tile.v < 1.0) + (tile.v > 2.0);
                  },
                  "add of bool is not supported"},
        ErrorCase{"logic",
                  [](Trace& t) {
                    const Tile tile(t);
                    tile.v&& tile.v;
                  },
                  "logical_and of f32 is not supported"},
        ErrorCase{"condition",
                  [](Trace& t) {
                    const Tile tile(t);
                    t.Where(tile.v, 1, 0);
                  },
                  "the condition of where is not bool"},
        ErrorCase{"reduced_axis",
                  [](Trace& t) {
                    const Tile tile(t);
                    t.Sum(t.Sum(tile.v, tile.n), tile.n);
                  },
                  "sum along u1 of a value that has the axes [u0]"},
        ErrorCase{"dot_axis",
                  [](Trace& t) {
                    const Tile tile(t);
                    t.Dot(tile.v, t.Sum(tile.v, tile.n), tile.n);
                  },
                  "dot along u1: its second operand has the axes [u0]"},
        ErrorCase{"dot_dtypes",
                  [](Trace& t) {
                    const Tile tile(t);
                    t.Dot(tile.v, t.Load(t.Tensor("h"), {tile.n, tile.m}), tile.n);
                  },
                  "dot of f32 and f16"},
        ErrorCase{"dot_shared",
                  [](Trace& t) {
                    const Tile tile(t);
                    t.Dot(tile.v, tile.v, tile.n);
                  },
                  "both operands have the axis u0, whose block is not fixed at 1"},
        ErrorCase{"leaked_value", [](Trace& t) { exp(LeakedFromALoop(t)); }, "return it from there"},
        ErrorCase{"leaked_axis",
                  [](Trace& t) {
                    AxisRef leaked;
                    t.For(StaticSize(4), {}, [&](AxisRef i, const Trace::Carried&) {
                      leaked = i;
                      return Trace::Carried{};
                    });
                    t.Index(leaked);
                  },
                  "the axis u0 of a loop is used outside of the loop"},
        ErrorCase{"carried_count",
                  [](Trace& t) {
                    const Tile tile(t);
                    t.For(StaticSize(4), {tile.v}, [](AxisRef, const Trace::Carried&) { return Trace::Carried{}; });
                  },
                  "the loop body returns 0 values, but 1 are expected"},
        ErrorCase{"carried_axes",
                  [](Trace& t) {
                    const Tile tile(t);
                    t.For(StaticSize(4), {tile.v}, [&](AxisRef i, const Trace::Carried& carried) {
                      return Trace::Carried{carried[0] + t.Index(i)};
                    });
                  },
                  "result 0 of the loop body has the axis u2, which is not in [u0, u1]"},
        ErrorCase{"if_condition",
                  [](Trace& t) {
                    const Tile tile(t);
                    const auto nothing = [] { return Trace::Carried{}; };
                    t.If(tile.v < 1.0, nothing, nothing);
                  },
                  "the condition of If is bool[u0, u1], not bool[]"},
        ErrorCase{"branch_count",
                  [](Trace& t) {
                    const Tile tile(t);
                    t.If(
                        t.TileBegin(tile.m) < 4, [&] { return Trace::Carried{tile.v}; },
                        [] { return Trace::Carried{}; });
                  },
                  "the else branch returns 0 values, but 1 are expected"},
        ErrorCase{"nothing", [](Trace& t) { t.Where(Value(), 1, 0); }, "a value that is not valid is used"},
        ErrorCase{"other_trace",
                  [](Trace& t) {
                    Trace other({.kernel_name = "other"});
                    const Value foreign = other.Index(other.Tile(StaticSize(4)));
                    t.Sum(foreign, t.ReductionAxis(StaticSize(4)));
                  },
                  "a value of another trace is used"}),
    [](const auto& info) { return info.param.name; });

TEST(TraceTest, KeepsTheFirstErrorAndItsPlace) {
  Trace trace({.kernel_name = "bad", .tensors = {DenseTensor("x", {20, 30})}});
  const Tile tile(trace);
  trace.Sum(tile.v, AxisRef{7});
  const int line = __LINE__ - 1;
  trace.Fail(absl::InternalError("later"));
  EXPECT_EQ(trace.Finish().status(),
            absl::InvalidArgumentError("kernel 'bad', ir/trace_test.cc:" + std::to_string(line) +
                                       ": an axis that does not exist is used"));
}

TEST(TraceTest, FinishesOnce) {
  Trace trace({.kernel_name = "k"});
  EXPECT_TRUE(trace.Finish().ok());
  EXPECT_EQ(trace.Finish().status().code(), absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace telemetry::worker::ir
