#include <functional>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/worker/ir/sample_kernels.h"
#include "worker/ir/graph.h"

namespace telemetry::worker::ir {
namespace {

using device::DType;
using ::testing::HasSubstr;

// Returns a kernel with nearly all constructs: gathers, numbers, loops, branches, calls, dots, and reductions that are
// rolled.
DeviceIr Everything() {
  Trace t({.kernel_name = "everything",
           .tensors = {DenseTensor("a", {8, 6}), DenseTensor("b", {6, 10}), DenseTensor("at", {8}, DType::kI32)},
           .scalars = {{"scale", DType::kF32}}});
  const TensorRef a = t.Tensor("a");
  const TensorRef b = t.Tensor("b");
  const TensorRef out = t.Output("out", {StaticSize(8), StaticSize(10)}, DType::kF32);
  const TensorRef sums = t.Output("sums", {StaticSize(8)}, DType::kF32);
  const AxisRef m = t.Tile(StaticSize(8));
  const AxisRef n = t.Tile(StaticSize(10));
  const AxisRef r = t.ReductionAxis(StaticSize(6));
  const Value at = t.Load(t.Tensor("at"), {m});
  const Value row = t.Load(a, {at, r}) * t.Scalar("scale");
  t.Store(sums, {m}, t.Sum(row, r) + t.Load(a, {m, int64_t{0}}));
  const auto product =
      t.For(StaticSize(6), {t.Full({m, n}, 0, DType::kF32)}, [&](AxisRef k, const Trace::Carried& carried) {
        const Value x = t.Load(a, {m, k}) + t.Index(k);
        return Trace::Carried{t.Dot(x, t.Load(b, {k, n}), k, carried[0])};
      });
  const auto chosen = t.If(
      t.TileBegin(m) < 4, [&] { return Trace::Carried{product[0]}; }, [&] { return Trace::Carried{-product[0]}; });
  const auto steps = t.While(
      {t.TileEnd(m)}, [](const Trace::Carried& carried) { return carried[0] < 100; },
      [](const Trace::Carried& carried) { return Trace::Carried{carried[0] * 2}; });
  const Value called = t.Call("f", {chosen[0]}, [&](const std::vector<Value>& given) { return given[0] + steps[0]; });
  t.Store(out, {m, n}, t.Where(called > 0.0, called, 1.0));
  absl::StatusOr<DeviceIr> ir = t.Finish();
  EXPECT_TRUE(ir.ok()) << ir.status();
  return *std::move(ir);
}

// Returns the first node of an op in the graphs from `from` on.
Node& First(DeviceIr* ir, Op op, size_t from = 0) {
  for (size_t i = from; i < ir->graphs.size(); ++i) {
    for (Node& node : ir->graphs[i].nodes) {
      if (node.op == op) return node;
    }
  }
  ADD_FAILURE() << "no node " << BaseName(op);
  return ir->graphs[0].nodes[0];
}

Arg::List& MutableList(Arg& arg) { return std::get<Arg::List>(arg.value); }
Graph& MutableBody(DeviceIr* ir, Op op) { return ir->graphs[static_cast<size_t>(First(ir, op).graphs[0])]; }

struct Damage {
  std::string name;
  std::function<void(DeviceIr*)> inflict;
  std::string message;
};

class VerifyTest : public ::testing::TestWithParam<Damage> {};

TEST_P(VerifyTest, NamesTheRuleThatIsBroken) {
  DeviceIr ir = Everything();
  ASSERT_TRUE(Verify(ir).ok());
  GetParam().inflict(&ir);
  const absl::Status status = Verify(ir);
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Form, VerifyTest,
    ::testing::Values(
        Damage{"axis_id", [](DeviceIr* ir) { ir->axes[1].id = 2; }, "axis 1 has a wrong id"},
        Damage{"block", [](DeviceIr* ir) { ir->axes[1].fixed_block = -1; }, "a negative fixed block"},
        Damage{"strides", [](DeviceIr* ir) { ir->tensors[0].strides.pop_back(); },
               "tensor 'a' does not have one stride"},
        Damage{"no_root", [](DeviceIr* ir) { ir->root = 99; }, "no root graph"},
        Damage{"root_kind", [](DeviceIr* ir) { ir->root = 1; }, "graph 1 is a root of the wrong kind"},
        Damage{"graph_id", [](DeviceIr* ir) { ir->graphs[1].id = 7; }, "has an id that differs from its index"},
        Damage{"no_output", [](DeviceIr* ir) { ir->graphs[0].nodes.pop_back(); }, "does not end with an output"},
        Damage{"empty", [](DeviceIr* ir) { ir->graphs[0].nodes.clear(); }, "does not end with an output"},
        Damage{"graph_axis", [](DeviceIr* ir) { ir->graphs[1].axes = {42}; }, "walks an axis that does not exist"},
        Damage{"name", [](DeviceIr* ir) { First(ir, Op::kLoad).name = "at"; }, "does not have a unique name"},
        Damage{"no_name", [](DeviceIr* ir) { First(ir, Op::kLoad).name = ""; }, "does not have a unique name"},
        Damage{"two_outputs", [](DeviceIr* ir) { ir->graphs[0].nodes[0].op = Op::kOutput; },
               "is an output before the end"},
        Damage{"placeholder", [](DeviceIr* ir) { MutableBody(ir, Op::kForLoop).nodes[2].op = Op::kPlaceholder; },
               "is a placeholder after other nodes"},
        Damage{"order", [](DeviceIr* ir) { First(ir, Op::kLoad).args[0] = Arg{NodeRef{40}}; }, "does not come before"},
        Damage{"negative", [](DeviceIr* ir) { First(ir, Op::kLoad).args[0] = Arg{NodeRef{-1}}; },
               "does not come before"},
        Damage{"shape_axis", [](DeviceIr* ir) { First(ir, Op::kMul).shape = {42}; },
               "has a shape with an unknown or repeated axis"},
        Damage{"shape_twice",
               [](DeviceIr* ir) {
                 First(ir, Op::kMul).shape = {0, 0};
               },
               "has a shape with an unknown or repeated axis"},
        Damage{"axis", [](DeviceIr* ir) { First(ir, Op::kSum).axis = 42; }, "along an axis that does not exist"},
        Damage{"shape_alone", [](DeviceIr* ir) { First(ir, Op::kStore).shape = {0}; }, "has axes but no dtype"},
        Damage{"child", [](DeviceIr* ir) { First(ir, Op::kIf).graphs[1] = 42; }, "a child graph that does not exist"},
        Damage{"results", [](DeviceIr* ir) { ir->graphs[1].nodes.back().args.clear(); }, "has no list of results"},
        Damage{"result", [](DeviceIr* ir) { MutableList(ir->graphs[1].nodes.back().args[0])[0] = Arg{int64_t{1}}; },
               "has a result without a value"},
        Damage{"root_result",
               [](DeviceIr* ir) { MutableList(ir->graphs[0].nodes.back().args[0]).push_back(Arg{NodeRef{2}}); },
               "is a root with arguments or results"}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Nodes, VerifyTest,
    ::testing::Values(
        Damage{"host_tensor", [](DeviceIr* ir) { First(ir, Op::kHostTensor).tensor = 9; }, "names no tensor"},
        Damage{"block_size", [](DeviceIr* ir) { First(ir, Op::kBlockSize).axis = 2; }, "which only a slice can index"},
        Damage{"scalar", [](DeviceIr* ir) { First(ir, Op::kScalar).scalar = 1; }, "names no scalar"},
        Damage{"scalar_dtype", [](DeviceIr* ir) { First(ir, Op::kScalar).dtype = DType::kI32; }, "scalar's dtype"},
        Damage{"index", [](DeviceIr* ir) { First(ir, Op::kIndex).dtype = DType::kF32; }, "is not i32 along its axis"},
        Damage{"position", [](DeviceIr* ir) { First(ir, Op::kTileEnd).shape = {0}; }, "is not i32 along its axis"},
        Damage{"load_args",
               [](DeviceIr* ir) { First(ir, Op::kLoad).args.pop_back(); },
               "has a wrong number of arguments"},
        Damage{"load_from",
               [](DeviceIr* ir) { First(ir, Op::kLoad).args[0] = Arg{NodeRef{1}}; },
               "not a host tensor and a list"},
        Damage{"load_rank",
               [](DeviceIr* ir) { MutableList(First(ir, Op::kLoad).args[1]).clear(); },
               "does not have one index per dimension"},
        Damage{"literal",
               [](DeviceIr* ir) { MutableList(First(ir, Op::kLoad).args[1])[0] = Arg{int64_t{8}}; },
               "has an index outside of the dimension"},
        Damage{"slice",
               [](DeviceIr* ir) { MutableList(First(ir, Op::kLoad).args[1])[0] = Arg{Slice{0}}; },
               "has a slice of an axis that is not a reduction axis"},
        Damage{"no_index",
               [](DeviceIr* ir) { MutableList(First(ir, Op::kLoad).args[1])[0] = Arg{true}; },
               "has an index of an unsupported type"},
        Damage{"gather", [](DeviceIr* ir) { ir->tensors[2].dtype = First(ir, Op::kLoad).dtype.emplace(DType::kF32); },
               "has an index that is not an integer"},
        Damage{"load_dtype",
               [](DeviceIr* ir) { First(ir, Op::kLoad).dtype = DType::kF32; },
               "does not have the tensor's dtype"},
        Damage{"load_shape",
               [](DeviceIr* ir) { First(ir, Op::kLoad).shape = {1}; },
               "does not have the axes of its indices"},
        Damage{"store_value",
               [](DeviceIr* ir) { First(ir, Op::kStore).args[2] = Arg{1.0}; },
               "stores no value, or has a dtype"},
        Damage{"store_axes",
               [](DeviceIr* ir) {
                 Node& store = First(ir, Op::kStore);
                 store.args[1] = Arg{Arg::List{Arg{int64_t{0}}}};
               },
               "stores an axis that no index has"},
        Damage{"full", [](DeviceIr* ir) { First(ir, Op::kFull).dtype.reset(); }, "has axes but no dtype"},
        Damage{"mask_dtype", [](DeviceIr* ir) { First(ir, Op::kMaskTo).dtype = DType::kF16; }, "changes the dtype"},
        Damage{"mask_axes", [](DeviceIr* ir) { First(ir, Op::kMaskTo).shape = {0}; }, "changes the axes"},
        Damage{"convert", [](DeviceIr* ir) { First(ir, Op::kConvert).args[0] = Arg{1.0}; }, "has no input value"},
        Damage{"arity", [](DeviceIr* ir) { First(ir, Op::kMul).args.pop_back(); }, "has a wrong number of arguments"},
        Damage{"operand",
               [](DeviceIr* ir) { First(ir, Op::kMul).args[1] = Arg{true}; },
               "neither a value nor a number"},
        Damage{"numbers",
               [](DeviceIr* ir) {
                 First(ir, Op::kMul) = {.name = "two", .op = Op::kMul, .args = {Arg{1.0}, Arg{2.0}}, .dtype = DType::kF32};
               },
               "has only numbers as operands"},
        Damage{"condition",
               [](DeviceIr* ir) { First(ir, Op::kWhere).args[0] = First(ir, Op::kWhere).args[1]; },
               "has a condition that is not bool"},
        Damage{"categories",
               [](DeviceIr* ir) { First(ir, Op::kAdd, 1).args[1] = First(ir, Op::kConvert, 1).args[0]; },
               "mixes dtypes"},
        Damage{"broadcast",
               [](DeviceIr* ir) { First(ir, Op::kMul).shape = {0}; },
               "does not have the axes of its operands"},
        Damage{"fraction", [](DeviceIr* ir) { First(ir, Op::kLt).args[1] = Arg{0.5}; }, "among integers"},
        Damage{"logic",
               [](DeviceIr* ir) { First(ir, Op::kMul).op = Op::kAnd; },
               "is a logical operation on values that are not bool"},
        Damage{"integer_function",
               [](DeviceIr* ir) {
                 Node& lt = First(ir, Op::kLt);
                 lt.op = Op::kDiv;
               },
               "is not supported for integers"},
        Damage{"result",
               [](DeviceIr* ir) { First(ir, Op::kGt).dtype = DType::kF32; },
               "does not follow from its operands"},
        Damage{"reduced_axis", [](DeviceIr* ir) { First(ir, Op::kSum).axis = 1; }, "an axis that its input lacks"},
        Damage{"reduced_dtype",
               [](DeviceIr* ir) { First(ir, Op::kSum).dtype = DType::kF16; },
               "does not follow from its input"},
        Damage{"reduced_shape", [](DeviceIr* ir) { First(ir, Op::kSum).shape = {0, 2}; }, "input's other axes"},
        Damage{"unmasked",
               [](DeviceIr* ir) { First(ir, Op::kSum).args[0] = First(ir, Op::kMaskTo).args[0]; },
               "has an input that is not masked"},
        Damage{"masked_otherwise", [](DeviceIr* ir) { First(ir, Op::kSum).op = Op::kAMax; }, "not masked"},
        Damage{"dot_axis", [](DeviceIr* ir) { First(ir, Op::kDot).axis = 0; }, "an axis that one operand lacks"},
        Damage{"dot_dtype", [](DeviceIr* ir) { First(ir, Op::kDot).dtype = DType::kF16; }, "dtypes that do not match"},
        Damage{"dot_shape",
               [](DeviceIr* ir) { First(ir, Op::kDot).shape = {0}; },
               "does not have the axes of its operands"},
        Damage{"dot_shared",
               [](DeviceIr* ir) {
                 Node& dot = First(ir, Op::kDot);
                 dot.args = {dot.args[0], dot.args[0]};
                 dot.shape = {0};
               },
               "whose block is not 1"},
        Damage{"dot_unmasked",
               [](DeviceIr* ir) { First(ir, Op::kDot).args[0] = First(ir, Op::kMaskTo, 1).args[0]; },
               "has an input that is not masked"},
        Damage{"accumulator",
               [](DeviceIr* ir) { First(ir, Op::kDot).args[2] = First(ir, Op::kDot).args[0]; },
               "has an accumulator with a wrong dtype or wrong axes"}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    ControlFlow, VerifyTest,
    ::testing::Values(
        Damage{"dtype", [](DeviceIr* ir) { First(ir, Op::kForLoop).dtype = DType::kF32; }, "but has a dtype"},
        Damage{"children", [](DeviceIr* ir) { First(ir, Op::kIf).graphs.pop_back(); },
               "has a wrong number of child graphs"},
        Damage{"kinds", [](DeviceIr* ir) { std::swap(First(ir, Op::kIf).graphs[0], First(ir, Op::kIf).graphs[1]); },
               "has a child graph of another kind"},
        Damage{"list", [](DeviceIr* ir) { First(ir, Op::kForLoop).args[0] = Arg{}; }, "has no list of arguments"},
        Damage{"passed", [](DeviceIr* ir) { MutableList(First(ir, Op::kForLoop).args[1]).clear(); },
               "do not match the child graph's placeholders"},
        Damage{"carried", [](DeviceIr* ir) { MutableList(MutableBody(ir, Op::kForLoop).nodes.back().args[0]).clear(); },
               "do not match the results of its body"},
        Damage{"branches", [](DeviceIr* ir) { MutableList(MutableBody(ir, Op::kIf).nodes.back().args[0]).clear(); },
               "has branches with results of different types"},
        Damage{"if_condition", [](DeviceIr* ir) { First(ir, Op::kIf).args[0] = Arg{true}; },
               "has a condition that is not a bool scalar"},
        Damage{"while_condition",
               [](DeviceIr* ir) { MutableList(MutableBody(ir, Op::kWhile).nodes.back().args[0])[0] = Arg{NodeRef{0}}; },
               "has a condition that is not a bool scalar"},
        Damage{"loop_axis", [](DeviceIr* ir) { First(ir, Op::kForLoop).axis = 0; },
               "loops along an axis of the wrong kind"},
        Damage{"body_axis", [](DeviceIr* ir) { MutableBody(ir, Op::kForLoop).axes = {}; },
               "a body that walks another axis"},
        Damage{"end", [](DeviceIr* ir) { First(ir, Op::kForLoop).args[2] = Arg{NodeRef{4}}; },
               "has an end that is not an i32 scalar"},
        Damage{"item", [](DeviceIr* ir) { First(ir, Op::kGetItem).item = 3; }, "reads a result that does not exist"},
        Damage{"item_of", [](DeviceIr* ir) { First(ir, Op::kGetItem).args[0] = Arg{NodeRef{2}}; },
               "is not control flow"},
        Damage{"item_type", [](DeviceIr* ir) { First(ir, Op::kGetItem).dtype = DType::kI32; },
               "does not have the type of the child graph's result"},
        Damage{"loop_axis_outside",
               [](DeviceIr* ir) {
                 Node& index = First(ir, Op::kTileBegin);
                 index.axis = 3;
               },
               "uses the axis of a loop outside of it"},
        Damage{"rolled_graph", [](DeviceIr* ir) { ir->rolled.at(0).rolled_graph = 99; },
               "names a graph that does not exist"},
        Damage{"rolled_kind", [](DeviceIr* ir) { ir->rolled.at(0).rolled_graph = 1; }, "has another kind"},
        Damage{"rolled_axis", [](DeviceIr* ir) { ir->rolled.at(0).axes = {0}; },
               "an axis that is not a reduction axis"}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace telemetry::worker::ir
