// The methods of RegionEmitter for loops with overlapping dots.

#include <algorithm>

#include "proto/base/status_macros.h"
#include "worker/codegen/emit/region.h"

namespace telemetry::worker::codegen::emit {
namespace {

constexpr int64_t kFewRegisters = 8;

}  // namespace

absl::Status RegionEmitter::EmitOverlappedLoop(const ir::Node& loop, const plan::DotOverlap& overlap,
                                               const std::string& end, CopyAhead* copies, Values* carried,
                                               Frame* frame) {
  text::CodeWriter& out = code_.out();
  const ir::Graph& body = code_.plan().GraphFor(loop.graphs[0]);
  OverlappedDots dots(code_, body, overlap, (*carried)[static_cast<size_t>(overlap.carried)]);
  overlapped_ = &dots;
  out.Open("if (0 < ", end, ")");
  dots.Declare();
  out.Open("");
  out.Line("const ", code_.PositionType(), " ", TileCode::Begin(loop.axis), " = 0;");
  RETURN_IF_ERROR(EmitIteration(loop, copies, *carried, frame));
  out.Close();
  OpenLoop(loop.axis, std::to_string(code_.plan().blocks[static_cast<size_t>(loop.axis)]), end);
  RETURN_IF_ERROR(EmitIteration(loop, copies, *carried, frame));
  out.Close();
  copies->Last();
  dots.RunSecond();
  out.Close();
  overlapped_ = nullptr;
  return absl::OkStatus();
}

const TileValue* RegionEmitter::LastComputed(const Frame& frame) const {
  const TileValue* last = nullptr;
  for (const auto& [at, value] : frame.values) {
    const ir::Node& node = frame.graph.nodes[static_cast<size_t>(at.first)];
    const bool is_float = value.type == text::RegisterType::kFloat && !value.axes.empty();
    if (node.op == ir::Op::kPlaceholder || at.second != 0 || !is_float) continue;
    if (code_.set(0).Registers(value.axes) <= kFewRegisters) last = &value;
  }
  return last;
}

bool RegionEmitter::EmitOverlapped(int index, Frame* frame) {
  const plan::DotOverlap& overlap = overlapped_->overlap();
  const ir::Node& node = frame->graph.nodes[static_cast<size_t>(index)];
  if (index == overlap.first) {
    overlapped_->Start();
    frame->values[{index, 0}] = overlapped_->products();
    return true;
  }
  const std::vector<ir::NodeRef> used = ir::CollectUses(node);
  const bool uses_sums = std::find(used.begin(), used.end(), ir::NodeRef{overlap.placeholder}) != used.end();
  if (uses_sums || index == overlap.second) overlapped_->FinishSecond(LastComputed(*frame));
  if (index != overlap.second) return false;
  const auto row_operand = static_cast<size_t>(code_.mma().dots.at({frame->graph.id, index}).row_operand);
  overlapped_->Pack(ArgValue(node.args[row_operand], 0, frame), ArgValue(node.args[2], 0, frame));
  frame->values[{index, 0}] = overlapped_->sums();
  return true;
}

}  // namespace telemetry::worker::codegen::emit
