// The methods of RegionEmitter for loops, branches and calls.

#include <algorithm>

#include "proto/base/status_macros.h"
#include "worker/codegen/emit/copy_ahead.h"
#include "worker/codegen/emit/pointwise.h"
#include "worker/codegen/emit/region.h"

namespace telemetry::worker::codegen::emit {
namespace {

using ir::Node;
using ir::Op;
using record::Cat;

}  // namespace

absl::Status RegionEmitter::EmitControlFlow(int index, Frame* frame) {
  const Node& node = frame->graph.nodes[static_cast<size_t>(index)];
  switch (node.op) {
    case Op::kForLoop:
    case Op::kReductionLoop:
      return EmitLoop(index, frame);
    case Op::kWhile:
      return EmitWhile(index, frame);
    case Op::kIf:
      return EmitIf(index, frame);
    default: {  // kCall
      ASSIGN_OR_RETURN(Values results, Emit(node.graphs[0], ArgValues(node.args[0], frame)));
      frame->results[index] = std::move(results);
      return absl::OkStatus();
    }
  }
}

absl::Status RegionEmitter::EmitLoop(int index, Frame* frame) {
  const Node& node = frame->graph.nodes[static_cast<size_t>(index)];
  text::CodeWriter& out = code_.out();
  const auto axis = static_cast<size_t>(node.axis);
  Values carried = Copies(ArgValues(node.args[1], frame));
  std::string end = code_.Extent(code_.ir().axes[axis].extent);
  if (ir::HasArgument(node, 2)) {
    const std::string wanted = ArgValue(node.args[2], 0, frame).name;
    end = Cat("(", wanted, " < ", end, " ? ", wanted, " : ", end, ")");
  }
  if (producer_ != nullptr && producer_->Feeds(code_.plan().GraphFor(node.graphs[0]))) {
    EmitFedLoop(node, end, carried.front());
    frame->results[index] = std::move(carried);
    return absl::OkStatus();
  }
  CopyAhead copies(code_, code_.plan().GraphFor(node.graphs[0]), node.axis, end);
  copies.Open();
  if (const plan::DotOverlap* overlap = code_.OverlapOf(code_.plan().GraphFor(node.graphs[0]).id)) {
    RETURN_IF_ERROR(EmitOverlappedLoop(node, *overlap, end, &copies, &carried, frame));
    copies.Close();
    frame->results[index] = std::move(carried);
    return absl::OkStatus();
  }
  const size_t begins_at = out.text().size();
  OpenLoop(node.axis, "0", end);
  RETURN_IF_ERROR(EmitIteration(node, &copies, carried, frame));
  out.Close();
  MeetAgain(begins_at);
  copies.Close();
  frame->results[index] = std::move(carried);
  return absl::OkStatus();
}

void RegionEmitter::OpenLoop(int axis, const std::string& from, const std::string& end) {
  const int64_t unroll = code_.plan().unroll[static_cast<size_t>(axis)];
  const std::string begin = TileCode::Begin(axis);
  if (unroll > 0) code_.out().Line("_Pragma(\"unroll ", unroll, "\")");
  code_.out().Open("for (", code_.PositionType(), " ", begin, " = ", from, "; ", begin, " < ", end, "; ", begin,
                   " += ", code_.plan().blocks[static_cast<size_t>(axis)], ")");
}

absl::Status RegionEmitter::EmitIteration(const Node& loop, CopyAhead* copies, const Values& carried, Frame* frame) {
  copies->Next();
  RETURN_IF_ERROR(EmitBody(loop, carried, frame));
  copies->Advance();
  return absl::OkStatus();
}

absl::Status RegionEmitter::EmitBody(const Node& loop, const Values& carried, Frame* frame) {
  Values arguments = CapturedValues(loop.args[0], frame);
  arguments.insert(arguments.end(), carried.begin(), carried.end());
  ASSIGN_OR_RETURN(const Values next, Emit(loop.graphs[0], arguments));
  AssignAll(carried, next);
  return absl::OkStatus();
}

void RegionEmitter::EmitFedLoop(const Node& loop, const std::string& end, const TileValue& sums) {
  producer_->Begin();
  OpenLoop(loop.axis, "0", end);
  producer_->Multiply(sums);
  code_.out().Close();
  producer_->End(sums);
}

absl::Status RegionEmitter::EmitWhile(int index, Frame* frame) {
  const Node& node = frame->graph.nodes[static_cast<size_t>(index)];
  text::CodeWriter& out = code_.out();
  Values carried = Copies(ArgValues(node.args[1], frame));
  Values arguments = ArgValues(node.args[0], frame);
  arguments.insert(arguments.end(), carried.begin(), carried.end());
  const size_t begins_at = out.text().size();
  out.Open("for (;;)");
  ASSIGN_OR_RETURN(const Values condition, Emit(node.graphs[0], arguments));
  out.Line("if (!(", code_.Element(condition.front()), ")) break;");
  ASSIGN_OR_RETURN(const Values next, Emit(node.graphs[1], arguments));
  AssignAll(carried, next);
  out.Close();
  MeetAgain(begins_at);
  frame->results[index] = std::move(carried);
  return absl::OkStatus();
}

absl::Status RegionEmitter::EmitIf(int index, Frame* frame) {
  const Node& node = frame->graph.nodes[static_cast<size_t>(index)];
  text::CodeWriter& out = code_.out();
  const Values arguments = ArgValues(node.args[1], frame);
  // The output of the branch determines the types of the results.
  const ir::Graph& then = code_.plan().GraphFor(node.graphs[0]);
  Values results;
  for (const ir::Arg& item : std::get<ir::Arg::List>(then.nodes.back().args[0].value)) {
    const auto* ref = std::get_if<ir::NodeRef>(&item.value);
    const text::RegisterType type = ref == nullptr ? TypeOfNumber(item) : text::RegisterOf(*then.at(*ref).dtype);
    results.push_back(code_.Declare(type, ref == nullptr ? std::vector<int>() : then.at(*ref).shape, 0));
  }
  const size_t begins_at = out.text().size();
  for (size_t branch = 0; branch < 2; ++branch) {
    out.Open(branch == 0 ? Cat("if (", code_.Element(ArgValue(node.args[0], 0, frame)), ")") : "else");
    ASSIGN_OR_RETURN(const Values outputs, Emit(node.graphs[branch], arguments));
    for (size_t i = 0; i < results.size(); ++i) code_.Assign(results[i], outputs[i]);
    out.Close();
  }
  MeetAgain(begins_at);
  frame->results[index] = std::move(results);
  return absl::OkStatus();
}

void RegionEmitter::MeetAgain(size_t begins_at) {
  text::CodeWriter& out = code_.out();
  if (code_.dialect().is_cuda() || out.text().find("BARRIER();", begins_at) == std::string::npos) return;
  out.Line("BARRIER();");
}

RegionEmitter::Values RegionEmitter::Copies(const Values& values) {
  Values copies;
  for (const TileValue& value : values) {
    copies.push_back(code_.Declare(value.type, value.axes, value.set));
    code_.Assign(copies.back(), value);
  }
  return copies;
}

void RegionEmitter::AssignAll(const Values& to, const Values& from) {
  Values sources = from;
  for (size_t i = 0; i < sources.size(); ++i) {
    const bool is_carried = std::any_of(to.begin(), to.end(), [&](const TileValue& other) {
      return other.name == sources[i].name && other.name != to[i].name;
    });
    if (is_carried) sources[i] = Copies({sources[i]}).front();
  }
  for (size_t i = 0; i < to.size(); ++i) {
    if (to[i].name != sources[i].name) code_.Assign(to[i], sources[i]);
  }
}

}  // namespace telemetry::worker::codegen::emit
