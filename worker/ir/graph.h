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

// The device IR: what a kernel does to tiles, as graphs of nodes in the manner of torch.fx. Plain data, copyable; made
// by Trace (trace.h), read by the code generator, the reference and the extractor of telemetry's graph record.
//
// Axes. A kernel walks its tensors along axes; each has a block, the piece of it that a tile holds. The shape of a
// value is a list of distinct axes, and axes are what broadcasting goes by: [m] and [m, n] make [m, n], whatever their
// order. A value without axes is a scalar, the same for the whole tile. The order of a shape is how it prints, no more.
// There are no dimensions of size 1 and no transposes; the indices of a load or a store say which axis runs along which
// dimension.
//
// Arithmetic. Floating values are computed in float32 whatever their dtype says (the dtype is what torch's promotion
// would give); kConvert rounds to f16 or bf16, and so does a store. Integers are int32 and wrap; division of integers
// is not there. Elements of a tile beyond the end of an axis hold anything: a load does not read and a store does not
// write them, kMaskTo gives them a value, and reductions and dots only see values that are masked along the axis that
// they sum.

// A size that a tensor has: text as the sidecars print it ("4096", or a symbol "s0" where shapes are not static) and
// its value in this binding.
struct Size {
  std::string text;
  int64_t value = 0;
  bool is_static = true;
  int tensor = -1;  // where it comes from: dimension `dimension` of tensors[tensor]; -1: nowhere
  int dimension = -1;

  friend bool operator==(const Size&, const Size&) = default;
};

enum class AxisKind {
  kGrid,       // a block of it per tile; tiles of the grid run in any order
  kLoop,       // walked by a for loop inside a tile
  kReduction,  // a tile has all of it: held at once (persistent) or walked in chunks (looped), as the config says
};

struct Axis {
  int id = 0;  // index in DeviceIr::axes: Helion's block id
  AxisKind kind = AxisKind::kGrid;
  Size extent;
  int64_t fixed_block = 0;  // 0: the config chooses; else the block size, always (1: an index, as for batches)
  std::string symbol() const { return "u" + std::to_string(id); }
};

// A tensor in device memory: an argument of the kernel, or an output that the host allocates (dense, row major).
struct HostTensor {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<Size> sizes;
  std::vector<Size> strides;  // in elements
  bool is_output = false;
};

// A scalar argument of the kernel. f32 or i32.
struct ScalarParameter {
  std::string name;
  DType dtype = DType::kF32;
};

enum class Op {
  // What graphs begin and end with.
  kPlaceholder,  // a captured or carried value of a child graph, in the order of the call's arguments
  kOutput,       // args[0]: the list of results
  // The host's things.
  kHostTensor,  // node.tensor
  kBlockSize,   // the symbol of node.axis's block: the index "this axis" of loads and stores
  kScalar,      // node.scalar: a scalar argument
  // Memory. args: host tensor, list of one index per dimension [, value to store]. An index is the kBlockSize node of
  // an
  // axis, a Slice of a reduction axis, an i32 value (gather), or an integer. A load's shape is the union of the axes of
  // its
  // indices. Gathered indices must be inside.
  kLoad,
  kStore,
  // Made from nothing.
  kFull,   // node.value everywhere; shape as given (no axes: a constant)
  kIndex,  // i32: each element's position along node.axis. Shape [axis]
  // i32 scalars: the position of the tile's first element along node.axis, and one beyond its last, at most the axis'
  // extent. Of a reduction axis always 0 and the extent, also inside the loop that walks it in chunks.
  kTileBegin,
  kTileEnd,
  // Pointwise, args: values or numbers. The values are all floating, all i32 or all bool (kConvert makes them so); a
  // number becomes what they are.
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
  kMaskTo,   // node.value where the element lies beyond the end of any of its axes
  // Along node.axis; that axis leaves the shape. f32 for floats; kSum of i32 and bool is i32; kArgMax is the i32
  // position
  // of the first largest, along the axis as kIndex counts it.
  kSum,
  kAMax,
  kAMin,
  kProd,
  kArgMax,
  // a, b [, accumulator]: sums a * b along node.axis (both have it), float32. Axes that a and b share beside it have
  // blocks of 1. f16 and bf16 (both the same), f32: tensor cores with tf32 when settings allow, else FMA.
  kDot,
  // Control flow, with child graphs. args: ..., list of arguments for the children's placeholders.
  kForLoop,  // node.graphs[0] once per block of node.axis, in order; args[0]: list of captured values, args[1]: list of
             // initial carried values, args[2]: where the loop ends (i32 scalar; None: the axis' extent). The
             // placeholders are the captured, then the carried values; the output is the next carried values.
  kReductionLoop,  // as kForLoop, over the chunks of a reduction axis. Only made by rolling
  kIf,             // args[0]: bool scalar, args[1]: list; graphs: then, else (same outputs)
  kWhile,          // args[0]: list of captured, args[1]: list of initial carried values; graphs: condition (one bool
                   // scalar), body
  kCall,           // args[0]: list; graphs[0]: a helper function
  kGetItem,        // result number node.item of args[0], which is control flow
};
// The last one: for tables and tests over all ops.
inline constexpr Op kLastOp = Op::kGetItem;

struct NodeRef {
  int index = 0;  // in the same graph
  friend bool operator==(const NodeRef&, const NodeRef&) = default;
};
// All of a reduction axis, as torch's `:`.
struct Slice {
  int axis = 0;
  friend bool operator==(const Slice&, const Slice&) = default;
};

// An argument of a node: nested as deep as one likes. std::monostate is None.
struct Arg {
  using List = std::vector<Arg>;
  using Map = std::map<std::string, Arg>;
  std::variant<std::monostate, NodeRef, bool, int64_t, double, std::string, DType, Slice, List, Map> value;
};

// "softmax.cc:12"
struct SourceLocation {
  std::string file;
  int line = 0;
};

enum class Lowering { kNone, kApi, kPointwise, kReduction, kDot, kControlFlow };

struct Node {
  std::string name;  // unique in its graph: "exp", "exp_1"
  Op op = Op::kPlaceholder;
  std::vector<Arg> args;
  std::map<std::string, Arg> kwargs;

  // No dtype: the node has no value of its own (host tensors, block sizes, stores, outputs, control flow: its results
  // come out through kGetItem).
  std::optional<DType> dtype;
  std::vector<int> shape;  // ids of axes

  // What op needs beside its arguments (see Op); -1 where it does not apply.
  int tensor = -1;
  int scalar = -1;
  int axis = -1;
  int item = -1;
  double value = 0;
  std::vector<int> graphs;

  SourceLocation location;
};

enum class GraphKind { kRoot, kForLoop, kReductionLoop, kIf, kElse, kWhileCondition, kWhileLoop, kHelperFunction };
inline constexpr GraphKind kLastGraphKind = GraphKind::kHelperFunction;

// Nodes in an order in which each comes after what it uses. The last node is the output.
struct Graph {
  int id = 0;
  GraphKind kind = GraphKind::kRoot;
  std::string name;       // of a helper function
  std::vector<int> axes;  // of a loop: the axis that it walks (Helion: block_ids)
  std::vector<Node> nodes;

  const Node& at(NodeRef ref) const { return nodes[static_cast<size_t>(ref.index)]; }
};

// A graph with reductions and what it becomes when they are done in chunks (roll.h).
struct RolledReduction {
  int original_graph = 0;
  int rolled_graph = 0;        // the original with its reductions replaced by kReductionLoop nodes
  std::vector<int> axes;       // that were rolled
  bool used_reduction = true;  // Helion: used_rdim
  bool can_be_rolled_by_caller = false;
};

struct DeviceIr {
  std::string kernel_name;
  std::vector<Axis> axes;
  std::vector<HostTensor> tensors;  // arguments, then outputs
  std::vector<ScalarParameter> scalars;
  std::vector<Graph> graphs;  // graphs[i].id == i
  int root = 0;
  std::vector<RolledReduction> rolled;
  // Sizes and scalars that the traced function looked at: other values need another trace.
  std::vector<Size> specialized_sizes;
  std::map<std::string, double> specialized_scalars;

  const Graph& root_graph() const { return graphs[static_cast<size_t>(root)]; }
};

// "helion.language.memory_ops.load", "torch._ops.aten.aten::exp": names that Helion and torch give the same operation.
std::string_view TargetName(Op op);
// What a node is called before it is made unique: "load", "exp".
std::string_view BaseName(Op op);
Lowering LoweringOf(Op op);
bool IsPointwise(Op op);
bool IsReduction(Op op);
bool IsControlFlow(Op op);
std::string_view GraphKindName(GraphKind kind);  // "RootGraphInfo", "ForLoopGraphInfo", ...: Helion's names

// One index of a load or a store.
struct Index {
  enum class Kind { kAxis, kGather, kLiteral };
  Kind kind = Kind::kAxis;
  int axis = -1;        // kAxis
  NodeRef value;        // kGather
  int64_t literal = 0;  // kLiteral
};
// Of a kLoad or kStore node of `graph`, one per dimension of the tensor.
std::vector<Index> IndicesOf(const Graph& graph, const Node& node);

// The nodes that a node uses, in the order of the arguments, once per occurrence.
std::vector<NodeRef> UsesOf(const Node& node);

// INTERNAL, with graph and node, unless every rule above holds. The extractor, the reference and the code generator may
// rely on it.
absl::Status Verify(const DeviceIr& ir);

// The graphs as text, a node a line, for people.
std::string DebugString(const DeviceIr& ir);

}  // namespace telemetry::worker::ir
