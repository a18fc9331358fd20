#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "worker/device/dtype.h"

namespace telemetry::worker::ir {

// The device IR: the operations of a kernel on tiles, as graphs of nodes in the style of torch.fx. Plain data,
// copyable. Trace (trace.h) builds it. The code generator, the reference and the extractor of the graph record read it.
//
// Axes. A kernel walks its tensors along axes. Each axis has a block, the part of the axis that a tile holds. The shape
// of a value is a list of distinct axes, and values broadcast by axis: [m] and [m, n] make [m, n], whatever their
// order. A value without axes is a scalar, the same for all elements of the tile. The order of a shape only affects how
// the shape is printed. There are no dimensions of size 1 and no transposes: the indices of a load or a store name the
// axis that runs along each dimension.
//
// Arithmetic. Floating-point values are computed in float32 whatever their dtype, which is the dtype that torch's
// promotion gives. kConvert rounds to f16 or bf16, and so does a store. Integers wrap at the width of their dtype.
// There is no integer division. The elements of a tile beyond the end of an axis have arbitrary values: a load does not
// read them, a store does not write them, and kMaskTo sets them. The inputs of reductions and dots are always masked
// along the axis that they sum.

// A size of a tensor: its text as the sidecars print it ("4096", or a symbol such as "s0" if shapes are not static),
// and its value in this binding.
struct Size {
  std::string text;
  int64_t value = 0;
  bool is_static = true;
  int tensor = -1;  // the size is dimension `dimension` of tensors[tensor]; -1: it belongs to no tensor
  int dimension = -1;

  friend bool operator==(const Size&, const Size&) = default;
};

// The ways in which a kernel walks an axis.
enum class AxisKind {
  kGrid,       // one block per tile; the tiles of the grid run in any order
  kLoop,       // walked by a for loop inside a tile
  kReduction,  // a tile covers all of it, at once (persistent) or in chunks (looped); the config chooses
};

// An axis along which a kernel walks its tensors.
struct Axis {
  int id = 0;  // index in DeviceIr::axes; Helion's block id
  AxisKind kind = AxisKind::kGrid;
  Size extent;
  int64_t fixed_block = 0;  // block size of every config (1: an index, as for batches); 0: the config chooses
  std::string symbol() const { return "u" + std::to_string(id); }
};

// A tensor in device memory: an argument of the kernel, or an output that the host allocates (dense, row-major).
struct HostTensor {
  std::string name;
  device::DType dtype = device::DType::kF32;
  std::vector<Size> sizes;
  std::vector<Size> strides;  // in elements
  bool is_output = false;
};

// A scalar argument of the kernel: f32, i32, or i64 for an integer that an i32 cannot hold.
struct ScalarParameter {
  std::string name;
  device::DType dtype = device::DType::kF32;
};

// The operations of nodes. The comments give the arguments (args) and the attributes of Node that an operation uses.
enum class Op {
  // The begin and the end of graphs.
  kPlaceholder,  // a captured or carried value of a child graph, in the order of the call's arguments
  kOutput,       // args[0]: the list of results
  // Values that the host knows.
  kHostTensor,  // node.tensor
  kBlockSize,   // the symbol of node.axis's block: the index "this axis" of loads and stores
  kScalar,      // node.scalar: a scalar argument
  // Memory. args: host tensor, list of one index per dimension [, value to store]. An index is the kBlockSize node of
  // an axis, a Slice of a reduction axis, an integer value (gather), or an integer. The shape of a load is the union of
  // the
  // axes of its indices. Gathered indices must be inside the dimension.
  kLoad,
  kStore,
  // Values without operands.
  kFull,   // node.value in every element; any shape (no axes: a constant)
  kIndex,  // i32: the position of each element along node.axis; shape [axis]
  // i32 scalars: the position of the tile's first element along node.axis, and the position after its last element,
  // which is at most the extent of the axis. For a reduction axis they are always 0 and the extent, also inside the
  // loop that walks the axis in chunks.
  kTileBegin,
  kTileEnd,
  // Pointwise operations. args: values or numbers. The values are all floating, or all of one dtype (kConvert makes
  // them
  // so). A number is converted to their category.
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMaximum,
  kMinimum,
  kNeg,
  kAbs,
  kExp,
  kExp2,
  kLog,
  kLog2,
  kSqrt,
  kRsqrt,
  kSigmoid,
  kTanh,
  kErf,
  kSin,
  kCos,
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  kAnd,
  kOr,
  kNot,      // bool
  kWhere,    // condition, then, else
  kConvert,  // to node.dtype
  kMaskTo,   // node.value in the elements that are beyond the end of any axis
  // Reductions along node.axis, which the result does not have. Floats give f32. kSum and kProd of integers of up to 32
  // bits that are no u32 give i32, and so does kSum of bool; other integers give their own dtype. kArgMax gives the i32
  // position of the first largest element along the axis, counted as by kIndex.
  kSum,
  kAMax,
  kAMin,
  kProd,
  kArgMax,
  // args: a, b [, accumulator]. Sums a * b along node.axis, which both have, in float32. Other axes that a and b share
  // have blocks of 1. The dtypes are both f16, both bf16 or both f32. f32 uses tensor cores with tf32 if the settings
  // allow it, else FMA.
  kDot,
  // Control flow, with child graphs. args: ..., list of arguments for the placeholders of the child graphs.
  kForLoop,  // runs node.graphs[0] once per block of node.axis, in order; args[0]: list of captured values, args[1]:
             // list of initial carried values, args[2]: the end of the loop (i32 scalar; None: the axis' extent). The
             // placeholders are the captured, then the carried values; the output lists the next carried values.
  kReductionLoop,  // as kForLoop, over the chunks of a reduction axis; only rolling creates it
  kIf,             // args[0]: bool scalar, args[1]: list; graphs: then, else (same outputs)
  kWhile,          // args[0]: list of captured, args[1]: list of initial carried values; graphs: condition (one bool
                   // scalar), body
  kCall,           // args[0]: list of arguments; graphs[0]: a helper function
  kGetItem,        // result number node.item of args[0], a control-flow node
};
// The last op, for tables and tests that cover all ops.
inline constexpr Op kLastOp = Op::kGetItem;

// A reference to a node from another node of the same graph.
struct NodeRef {
  int index = 0;  // in Graph::nodes
  friend bool operator==(const NodeRef&, const NodeRef&) = default;
};
// All of a reduction axis, like `:` in torch.
struct Slice {
  int axis = 0;
  friend bool operator==(const Slice&, const Slice&) = default;
};

// An argument of a node, nested to any depth. std::monostate is None.
struct Arg {
  using List = std::vector<Arg>;
  using Map = std::map<std::string, Arg>;
  std::variant<std::monostate, NodeRef, bool, int64_t, double, std::string, device::DType, Slice, List, Map> value;
};

// The line of source code that created a node: "softmax.cc:12".
struct SourceLocation {
  std::string file;
  int line = 0;
};

// The kinds of lowering that Helion applies to nodes.
enum class Lowering { kNone, kApi, kPointwise, kReduction, kDot, kControlFlow };

// A node of a graph: one operation.
struct Node {
  std::string name;  // unique in its graph: "exp", "exp_1"
  Op op = Op::kPlaceholder;
  std::vector<Arg> args;
  std::map<std::string, Arg> kwargs;

  // The dtype of the value. Unset if the node has no value of its own: host tensors, block sizes, stores, outputs, and
  // control flow, whose results kGetItem reads.
  std::optional<device::DType> dtype;
  std::vector<int> shape;  // ids of the axes of the value

  // Attributes of the op besides its arguments (see Op); -1 if the op does not use them.
  int tensor = -1;
  int scalar = -1;
  int axis = -1;
  int item = -1;
  double value = 0;
  bool is_number = false;  // kFull: a scalar argument whose value is fixed; promotion treats it as kScalar
  std::vector<int> graphs;

  SourceLocation location;
};

// The roles of graphs: the root, or a child graph of a control-flow node.
enum class GraphKind { kRoot, kForLoop, kReductionLoop, kIf, kElse, kWhileCondition, kWhileLoop, kHelperFunction };
inline constexpr GraphKind kLastGraphKind = GraphKind::kHelperFunction;

// A list of nodes in which each node comes after the nodes that it uses. The last node is the output.
struct Graph {
  int id = 0;
  GraphKind kind = GraphKind::kRoot;
  std::string name;       // of a helper function; else empty
  std::vector<int> axes;  // the axis that a loop walks (Helion: block_ids); else empty
  std::vector<Node> nodes;

  const Node& at(NodeRef ref) const { return nodes[static_cast<size_t>(ref.index)]; }
};

// A graph with reductions, and the alternate graph that computes them in chunks (roll.h).
struct RolledReduction {
  int original_graph = 0;
  int rolled_graph = 0;        // the original with its reductions replaced by kReductionLoop nodes
  std::vector<int> axes;       // the axes that were rolled
  bool used_reduction = true;  // Helion: used_rdim
  bool can_be_rolled_by_caller = false;
};

// The device IR of one kernel.
struct DeviceIr {
  std::string kernel_name;
  std::vector<Axis> axes;
  std::vector<HostTensor> tensors;  // arguments, then outputs
  std::vector<ScalarParameter> scalars;
  std::vector<Graph> graphs;  // graphs[i].id == i
  int root = 0;
  std::vector<RolledReduction> rolled;
  // Sizes and scalars whose values the traced function used. Other values need another trace.
  std::vector<Size> specialized_sizes;
  std::map<std::string, double> specialized_scalars;

  const Graph& root_graph() const { return graphs[static_cast<size_t>(root)]; }
};

// Returns the name that Helion and torch give the operation: "helion.language.memory_ops.load",
// "torch._ops.aten.aten::exp".
std::string_view TargetName(Op op);
// Returns the name that a node of this op has before it is made unique: "load", "exp".
std::string_view BaseName(Op op);
Lowering GetLowering(Op op);
bool IsPointwise(Op op);
bool IsReduction(Op op);
bool IsControlFlow(Op op);
std::string_view GraphKindName(GraphKind kind);  // Helion's name: "RootGraphInfo", "ForLoopGraphInfo", ...

// One index of a load or a store.
struct Index {
  enum class Kind { kAxis, kGather, kLiteral };
  Kind kind = Kind::kAxis;
  int axis = -1;        // kAxis
  NodeRef value;        // kGather
  int64_t literal = 0;  // kLiteral
};
// Returns the indices of a kLoad or kStore node of `graph`, one per dimension of the tensor.
std::vector<Index> ReadIndices(const Graph& graph, const Node& node);

// Reports whether the node has this argument, which may be optional.
bool HasArgument(const Node& node, size_t arg);

// Returns the nodes that a node uses, in the order of the arguments, once per occurrence.
std::vector<NodeRef> CollectUses(const Node& node);

// Returns INTERNAL, naming graph and node, if a rule above is broken. The extractor, the reference and the code
// generator may rely on these rules.
absl::Status Verify(const DeviceIr& ir);

// Returns the graphs as text for people, one node per line.
std::string DebugString(const DeviceIr& ir);

}  // namespace telemetry::worker::ir
