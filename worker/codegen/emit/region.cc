#include "worker/codegen/emit/region.h"

#include <algorithm>

#include "proto/base/status_macros.h"
#include "worker/codegen/emit/dot.h"
#include "worker/codegen/emit/memory_ops.h"
#include "worker/codegen/emit/mma_operand.h"
#include "worker/codegen/emit/pointwise.h"
#include "worker/codegen/emit/reduction.h"
#include "worker/codegen/emit/shared_copy.h"
#include "worker/codegen/plan/rounding.h"
#include "worker/ir/half.h"

namespace telemetry::worker::codegen::emit {
namespace {

using ir::Node;
using ir::NodeRef;
using ir::Op;
using record::Cat;

// Returns a number argument as a C literal.
std::string Literal(const ir::Arg& arg, text::RegisterType type) {
  if (const auto* boolean = std::get_if<bool>(&arg.value)) return text::LiteralText(type, int64_t{*boolean ? 1 : 0});
  if (const auto* integer = std::get_if<int64_t>(&arg.value)) return text::LiteralText(type, *integer);
  const auto* real = std::get_if<double>(&arg.value);
  return text::LiteralText(type, real == nullptr ? 0.0 : *real);
}

// Returns the type of an argument of a pointwise node; nullopt for a number, which has the type of the other ones.
std::optional<text::RegisterType> TypeOfArgument(const ir::Graph& graph, const ir::Arg& arg) {
  if (const auto* ref = std::get_if<NodeRef>(&arg.value)) return text::RegisterOf(*graph.at(*ref).dtype);
  if (std::holds_alternative<double>(arg.value)) return text::RegisterType::kFloat;
  return std::nullopt;
}

// Returns the literal of a kFull node.
std::string FullText(const Node& node) {
  return text::LiteralText(text::RegisterOf(*node.dtype),
                           IsInteger(*node.dtype) ? ir::RoundTo(*node.dtype, node.value) : node.value);
}

// Reports whether this value is already 0 beyond the ends of its axes.
bool IsZeroBeyondEnds(const ir::Graph& graph, const Node& node) {
  if (node.op == Op::kLoad) return true;
  return node.op == Op::kConvert && IsZeroBeyondEnds(graph, graph.at(std::get<NodeRef>(node.args[0].value)));
}

}  // namespace

absl::StatusOr<RegionEmitter::Values> RegionEmitter::Emit(int graph, const Values& arguments) {
  const ir::Graph& emitted = code_.plan().GraphFor(graph);
  Frame frame = {.graph = emitted, .uses = code_.uses().graphs.at(emitted.id), .arguments = arguments};
  for (size_t i = 0; i < emitted.nodes.size(); ++i) {
    const Node& node = emitted.nodes[i];
    if (node.op == Op::kOutput) {
      ReleaseOperands(frame);
      return ArgValues(node.args[0], &frame);
    }
    RETURN_IF_ERROR(EmitNode(static_cast<int>(i), &frame));
  }
  ReleaseOperands(frame);
  return Values();
}

absl::Status RegionEmitter::EmitNode(int index, Frame* frame) {
  const auto at = static_cast<size_t>(index);
  const Node& node = frame->graph.nodes[at];
  if (node.op == Op::kPlaceholder) {
    frame->values[{index, 0}] = frame->arguments[frame->placeholders++];
    return absl::OkStatus();
  }
  if (!frame->uses.live[at] || node.op == Op::kHostTensor || node.op == Op::kBlockSize) return absl::OkStatus();
  if (overlapped_ != nullptr && EmitOverlapped(index, frame)) return absl::OkStatus();
  if (ir::IsControlFlow(node.op)) return EmitControlFlow(index, frame);
  if (node.op == Op::kStore) {
    EmitStore(code_, frame->graph, index,
              [&](const ir::Arg& arg, text::RegisterType type) { return ElementOfArg(arg, type, 0, *frame); });
    return absl::OkStatus();
  }
  for (const int set : frame->uses.sets[at]) {
    if (code_.IsCopied(set)) {
      if (node.op == Op::kLoad && code_.copies()[static_cast<size_t>(set)]->is_held()) HoldOperand(set, frame);
      continue;
    }
    RETURN_IF_ERROR(EmitValue(index, set, frame));
  }
  return absl::OkStatus();
}

absl::Status RegionEmitter::EmitValue(int index, int set, Frame* frame) {
  ASSIGN_OR_RETURN(TileValue value, MakeValue(index, set, frame));
  frame->values[{index, set}] = std::move(value);
  return absl::OkStatus();
}

absl::StatusOr<TileValue> RegionEmitter::MakeValue(int index, int set, Frame* frame) {
  const Node& node = frame->graph.nodes[static_cast<size_t>(index)];
  const auto element = [this, set, frame](const ir::Arg& arg, text::RegisterType type) {
    return ElementOfArg(arg, type, set, *frame);
  };
  switch (node.op) {
    case Op::kGetItem: {
      const auto& source = std::get<NodeRef>(node.args[0].value);
      return frame->results.at(source.index)[static_cast<size_t>(node.item)];
    }
    case Op::kScalar:
      return TileValue{.name = Cat("scalar", node.scalar), .type = text::RegisterOf(*node.dtype)};
    case Op::kLoad:
      return EmitLoad(code_, frame->graph, index, set, element);
    case Op::kFull:
      return EmitGenerated(node, set, FullText(node));
    case Op::kIndex:
      return EmitGenerated(node, set, Cat("(int)", code_.Position(set, node.axis)));
    case Op::kTileBegin:
    case Op::kTileEnd:
      return EmitGenerated(node, set, TileBound(node));
    case Op::kConvert:
      if (plan::UsersRound(code_.plan(), code_.mma(), frame->uses, frame->graph, index)) {
        return ArgValue(node.args[0], set, frame);
      }
      return EmitPointwise(node, set, frame);
    case Op::kMaskTo:
      return EmitMaskTo(node, set, frame);
    case Op::kDot:
      return EmitDot(code_, frame->graph, index, [&](const ir::Arg& arg, int in) { return ArgValue(arg, in, frame); });
    case Op::kSum:
    case Op::kAMax:
    case Op::kAMin:
    case Op::kProd:
    case Op::kArgMax:
      return EmitReduction(code_, node, ArgValue(node.args[0], set, frame));
    default:
      return EmitPointwise(node, set, frame);
  }
}

std::string RegionEmitter::TileBound(const Node& node) const {
  const ir::Axis& axis = code_.ir().axes[static_cast<size_t>(node.axis)];
  std::string extent = code_.Extent(axis.extent);
  // A tile covers the entire reduction axis, even if the axis is walked in chunks.
  const bool is_whole = axis.kind == ir::AxisKind::kReduction;
  if (node.op == Op::kTileBegin) return is_whole ? "0" : Cat("(int)", TileCode::Begin(node.axis));
  if (is_whole) return Cat("(int)", extent);
  const std::string end = Cat(TileCode::Begin(node.axis), " + ", code_.plan().blocks[static_cast<size_t>(node.axis)]);
  return Cat("(int)(", end, " < ", extent, " ? ", end, " : ", extent, ")");
}

absl::StatusOr<TileValue> RegionEmitter::EmitPointwise(const Node& node, int set, Frame* frame) {
  const auto element = [&](const ir::Arg& arg, text::RegisterType type) {
    return ElementOfArg(arg, type, set, *frame);
  };
  const auto type_of = [&](const ir::Arg& arg) { return TypeOfArgument(frame->graph, arg); };
  const absl::StatusOr<std::string> expression = PointwiseExpression(node, element, type_of, &code_.dialect());
  if (!expression.ok()) {
    return absl::Status(expression.status().code(), Cat("node ", node.name, " of graph ", frame->graph.id, ": ",
                                                        record::Cat(expression.status().ToString())));
  }
  return EmitGenerated(node, set, *expression);
}

TileValue RegionEmitter::EmitGenerated(const Node& node, int set, const std::string& element) {
  TileValue value = code_.Declare(text::RegisterOf(*node.dtype), node.shape, set);
  code_.ForRegisters(set, node.shape, [&] { code_.out().Line(code_.Element(value), " = ", element, ";"); });
  return value;
}

absl::StatusOr<TileValue> RegionEmitter::EmitMaskTo(const Node& node, int set, Frame* frame) {
  const auto& ref = std::get<NodeRef>(node.args[0].value);
  const TileValue from = ArgValue(node.args[0], set, frame);
  const std::string inside = code_.InRange(set, node.shape);
  if (inside.empty() || (node.value == 0 && IsZeroBeyondEnds(frame->graph, frame->graph.at(ref)))) return from;
  const std::string beyond = Literal(ir::Arg{node.value}, from.type);
  return EmitGenerated(node, set, Cat("(", inside, ") ? ", code_.Element(from), " : ", beyond));
}

void RegionEmitter::HoldOperand(int set, Frame* frame) {
  const MmaOperand operand(code_, Cat("held", set), set);
  std::string place = Cat("held + ", code_.Hold(operand.bytes()));
  code_.out().Open("");
  // Other threads may still read earlier data in this memory.
  code_.out().Line("BARRIER();");
  operand.Declare(place);
  EmitCopy(code_, set, operand);
  CloseCopies(code_);
  code_.out().Close();
  code_.copies_ahead().places[set] = std::move(place);
  frame->held.push_back(set);
}

void RegionEmitter::ReleaseOperands(const Frame& frame) {
  for (const int set : frame.held) {
    code_.Release(MmaOperand(code_, "", set).bytes());
    code_.copies_ahead().places.erase(set);
  }
}

RegionEmitter::Values RegionEmitter::CapturedValues(const ir::Arg& list, Frame* frame) {
  Values values;
  for (const ir::Arg& item : std::get<ir::Arg::List>(list.value)) {
    const auto* ref = std::get_if<NodeRef>(&item.value);
    const bool in_registers = ref == nullptr || frame->uses.IsNeeded(*ref, 0);
    values.push_back(in_registers ? ArgValue(item, 0, frame) : TileValue());
  }
  return values;
}

TileValue RegionEmitter::ArgValue(const ir::Arg& arg, int set, Frame* frame) {
  if (const auto* ref = std::get_if<NodeRef>(&arg.value)) return Find(*ref, set, *frame);
  const text::RegisterType type = TypeOfNumber(arg);
  return {.name = Literal(arg, type), .type = type};
}

RegionEmitter::Values RegionEmitter::ArgValues(const ir::Arg& list, Frame* frame) {
  Values values;
  for (const ir::Arg& item : std::get<ir::Arg::List>(list.value)) values.push_back(ArgValue(item, 0, frame));
  return values;
}

const TileValue& RegionEmitter::Find(NodeRef ref, int set, const Frame& frame) const {
  return frame.values.at({ref.index, frame.graph.at(ref).shape.empty() ? 0 : set});
}

std::string RegionEmitter::ElementOfArg(const ir::Arg& arg, text::RegisterType type, int set,
                                        const Frame& frame) const {
  if (const auto* ref = std::get_if<NodeRef>(&arg.value)) {
    return code_.ElementAs(Find(*ref, set, frame), type);
  }
  return Literal(arg, type);
}

}  // namespace telemetry::worker::codegen::emit
