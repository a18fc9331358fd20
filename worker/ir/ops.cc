#include <array>
#include <cstddef>
#include <string_view>

#include "worker/ir/graph.h"

namespace telemetry::worker::ir {
namespace {

struct OpInfo {
  Op op;
  std::string_view base_name;
  std::string_view target;
  Lowering lowering = Lowering::kPointwise;
};

constexpr size_t kOps = static_cast<size_t>(kLastOp) + 1;

// Properties of each op, in the order of Op.
constexpr std::array<OpInfo, kOps> kInfo = {{
    {Op::kPlaceholder, "arg", "placeholder", Lowering::kNone},
    {Op::kOutput, "output", "output", Lowering::kNone},
    {Op::kHostTensor, "host_tensor", "helion.language._tracing_ops._host_tensor", Lowering::kApi},
    {Op::kBlockSize, "block_size", "helion.language._tracing_ops._get_symnode", Lowering::kApi},
    {Op::kScalar, "symnode", "helion.language._tracing_ops._get_symnode", Lowering::kApi},
    {Op::kLoad, "load", "helion.language.memory_ops.load", Lowering::kApi},
    {Op::kStore, "store", "helion.language.memory_ops.store", Lowering::kApi},
    {Op::kFull, "full", "helion.language.creation_ops.full", Lowering::kApi},
    {Op::kIndex, "tile_index", "helion.language.tile_ops.tile_index", Lowering::kApi},
    {Op::kTileBegin, "tile_begin", "helion.language.tile_ops.tile_begin", Lowering::kApi},
    {Op::kTileEnd, "tile_end", "helion.language.tile_ops.tile_end", Lowering::kApi},
    {Op::kAdd, "add", "torch._ops.aten.aten::add.Tensor"},
    {Op::kSub, "sub", "torch._ops.aten.aten::sub.Tensor"},
    {Op::kMul, "mul", "torch._ops.aten.aten::mul.Tensor"},
    {Op::kDiv, "div", "torch._ops.aten.aten::div.Tensor"},
    {Op::kMaximum, "maximum", "torch._ops.aten.aten::maximum"},
    {Op::kMinimum, "minimum", "torch._ops.aten.aten::minimum"},
    {Op::kNeg, "neg", "torch._ops.aten.aten::neg"},
    {Op::kAbs, "abs", "torch._ops.aten.aten::abs"},
    {Op::kExp, "exp", "torch._ops.aten.aten::exp"},
    {Op::kExp2, "exp2", "torch._ops.aten.aten::exp2"},
    {Op::kLog, "log", "torch._ops.aten.aten::log"},
    {Op::kLog2, "log2", "torch._ops.aten.aten::log2"},
    {Op::kSqrt, "sqrt", "torch._ops.aten.aten::sqrt"},
    {Op::kRsqrt, "rsqrt", "torch._ops.aten.aten::rsqrt"},
    {Op::kSigmoid, "sigmoid", "torch._ops.aten.aten::sigmoid"},
    {Op::kTanh, "tanh", "torch._ops.aten.aten::tanh"},
    {Op::kErf, "erf", "torch._ops.aten.aten::erf"},
    {Op::kSin, "sin", "torch._ops.aten.aten::sin"},
    {Op::kCos, "cos", "torch._ops.aten.aten::cos"},
    {Op::kEq, "eq", "torch._ops.aten.aten::eq.Tensor"},
    {Op::kNe, "ne", "torch._ops.aten.aten::ne.Tensor"},
    {Op::kLt, "lt", "torch._ops.aten.aten::lt.Tensor"},
    {Op::kLe, "le", "torch._ops.aten.aten::le.Tensor"},
    {Op::kGt, "gt", "torch._ops.aten.aten::gt.Tensor"},
    {Op::kGe, "ge", "torch._ops.aten.aten::ge.Tensor"},
    {Op::kAnd, "logical_and", "torch._ops.aten.aten::logical_and"},
    {Op::kOr, "logical_or", "torch._ops.aten.aten::logical_or"},
    {Op::kNot, "logical_not", "torch._ops.aten.aten::logical_not"},
    {Op::kWhere, "where", "torch._ops.aten.aten::where.self"},
    {Op::kConvert, "convert_element_type", "torch._ops.prims.prims::convert_element_type"},
    {Op::kMaskTo, "_mask_to", "helion.language._tracing_ops._mask_to", Lowering::kApi},
    {Op::kSum, "sum", "torch._ops.aten.aten::sum.dim_IntList", Lowering::kReduction},
    {Op::kAMax, "amax", "torch._ops.aten.aten::amax", Lowering::kReduction},
    {Op::kAMin, "amin", "torch._ops.aten.aten::amin", Lowering::kReduction},
    {Op::kProd, "prod", "torch._ops.aten.aten::prod.dim_int", Lowering::kReduction},
    {Op::kArgMax, "argmax", "torch._ops.aten.aten::argmax", Lowering::kReduction},
    {Op::kDot, "dot", "helion.language.matmul_ops.dot", Lowering::kDot},
    {Op::kForLoop, "_for_loop", "helion.language._tracing_ops._for_loop", Lowering::kControlFlow},
    {Op::kReductionLoop, "_for_loop", "helion.language._tracing_ops._for_loop", Lowering::kControlFlow},
    {Op::kIf, "_if", "helion.language._tracing_ops._if", Lowering::kControlFlow},
    {Op::kWhile, "_while_loop", "helion.language._tracing_ops._while_loop", Lowering::kControlFlow},
    {Op::kCall, "invoke_subgraph", "torch.ops.higher_order.invoke_subgraph", Lowering::kControlFlow},
    {Op::kGetItem, "getitem", "_operator.getitem", Lowering::kNone},
}};

constexpr bool InOrder() {
  for (size_t i = 0; i < kOps; ++i) {
    if (static_cast<size_t>(kInfo[i].op) != i || kInfo[i].base_name.empty()) return false;
  }
  return true;
}
static_assert(InOrder(), "kInfo lists every Op, in its order");

const OpInfo& GetInfo(Op op) { return kInfo[static_cast<size_t>(op)]; }

constexpr std::array<std::string_view, static_cast<size_t>(kLastGraphKind) + 1> kGraphKindNames = {
    "RootGraphInfo", "ForLoopGraphInfo",        "ReductionLoopGraphInfo", "IfGraphInfo",
    "ElseGraphInfo", "WhileConditionGraphInfo", "WhileLoopGraphInfo",     "HelperFunctionGraphInfo",
};

}  // namespace

std::string_view TargetName(Op op) { return GetInfo(op).target; }
std::string_view BaseName(Op op) { return GetInfo(op).base_name; }
Lowering GetLowering(Op op) { return GetInfo(op).lowering; }
bool IsPointwise(Op op) { return GetLowering(op) == Lowering::kPointwise; }
bool IsReduction(Op op) { return GetLowering(op) == Lowering::kReduction; }
bool IsControlFlow(Op op) { return GetLowering(op) == Lowering::kControlFlow; }
std::string_view GraphKindName(GraphKind kind) { return kGraphKindNames[static_cast<size_t>(kind)]; }

}  // namespace telemetry::worker::ir
