#include "worker/codegen/emit/copy_ahead.h"

#include <functional>
#include <utility>

#include "worker/codegen/emit/mma_operand.h"
#include "worker/codegen/emit/shared_copy.h"

namespace telemetry::worker::codegen::emit {

using record::Cat;

CopyAhead::CopyAhead(TileCode& code, const ir::Graph& body, int axis, std::string end)
    : code_(code), graph_(body.id), axis_(axis), end_(std::move(end)), stages_(code.plan().stages) {
  for (size_t set = 0; set < code.copies().size(); ++set) {
    const std::optional<plan::SharedCopy>& copy = code.copies()[set];
    if (!copy || copy->user != body.id) continue;
    if (copy->is_held()) reads_held_ = true;
    if (stages_ == 1 || !copy->may_run_ahead) continue;
    sets_.push_back(static_cast<int>(set));
    const plan::DotOverlap* overlap = code.OverlapOf(body.id);
    late_.push_back(overlap != nullptr && code.uses().stagings[set - 1].dot == overlap->second);
    offsets_.push_back(tile_bytes_);
    tile_bytes_ += MmaOperand(code, "", static_cast<int>(set)).bytes();
  }
}

void CopyAhead::Open() {
  if (sets_.empty()) {
    if (!reads_held_) return;
    WaitForCopies(code_, 0);
    ShareOperands(code_);
    return;
  }
  text::CodeWriter& out = code_.out();
  held_at_ = code_.Hold(stages_ * tile_bytes_);
  out.Open("");
  // Other threads may still read earlier data in this memory.
  out.Line("BARRIER();");
  out.Line("UNROLL");
  out.Open("for (int stage = 0; stage < ", stages_ - 1, "; ++stage)");
  out.Line("const ", code_.PositionType(), " ", TileCode::Begin(axis_), " = stage * ", Block(), ";");
  out.Open("if (", TileCode::Begin(axis_), " < ", end_, ")");
  for (size_t i = 0; i < sets_.size(); ++i) {
    if (!IsLate(i)) Copy(i, "stage");
  }
  out.Close();
  for (size_t i = 0; i < sets_.size(); ++i) {
    if (IsLate(i) && stages_ > 2) CopyEarlyTile(i);
  }
  CloseCopies(code_);
  out.Close();
  out.Line("int ", Slot(), " = 0;");
}

void CopyAhead::Next() {
  if (sets_.empty()) return;
  WaitForTile();
  code_.out().Line("const ", code_.PositionType(), " ", Ahead(), " = ", TileCode::Begin(axis_), " + ",
                   (stages_ - 1) * Block(), ";");
  code_.out().Line("const int ", FreeSlot(), " = ", Before(Slot()), ";");
  for (size_t i = 0; i < sets_.size(); ++i) {
    code_.copies_ahead().places[sets_[i]] = TileAddress(i, IsLate(i) ? FreeSlot() : Slot());
    code_.copies_ahead().unsent[graph_].push_back([this, i] { Send(i); });
  }
}

void CopyAhead::Last() {
  WaitForTile();
  code_.out().Line("const int ", FreeSlot(), " = ", Before(Slot()), ";");
  for (size_t i = 0; i < sets_.size(); ++i) {
    if (IsLate(i)) code_.copies_ahead().places[sets_[i]] = TileAddress(i, FreeSlot());
  }
}

void CopyAhead::WaitForTile() {
  WaitForCopies(code_, stages_ - 2);
  ShareOperands(code_);
}

void CopyAhead::Advance() {
  if (sets_.empty()) return;
  for (const std::function<void()>& send : code_.copies_ahead().unsent[graph_]) send();
  code_.copies_ahead().unsent.erase(graph_);
  code_.out().Line(Slot(), " = ", Slot(), " == ", stages_ - 1, " ? 0 : ", Slot(), " + 1;");
  for (const int set : sets_) code_.copies_ahead().places.erase(set);
}

void CopyAhead::Send(size_t index) {
  const std::string ahead = IsLate(index) ? Cat(Ahead(), " - ", Block()) : Ahead();
  CopyTile(index, Cat(ahead, " < ", end_), ahead, IsLate(index) ? Cat("(", Before(FreeSlot()), ")") : FreeSlot());
  if (index + 1 == sets_.size()) CloseCopies(code_);
}

void CopyAhead::CopyEarlyTile(size_t index) {
  const std::string begin = Cat("(stage - 1) * ", Block());
  CopyTile(index, Cat("stage > 0 && ", begin, " < ", end_), begin, "(stage - 1)");
}

void CopyAhead::CopyTile(size_t index, const std::string& condition, const std::string& begin,
                         const std::string& slot) {
  text::CodeWriter& out = code_.out();
  out.Open("if (", condition, ")");
  out.Line("const ", code_.PositionType(), " ", TileCode::Begin(axis_), " = ", begin, ";");
  Copy(index, slot);
  out.Close();
}

void CopyAhead::Close() {
  if (sets_.empty()) return;
  code_.out().Close();
  code_.Release(stages_ * tile_bytes_);
}

void CopyAhead::Copy(size_t index, const std::string& slot) {
  const MmaOperand operand(code_, Cat("to", sets_[index]), sets_[index]);
  operand.Declare(TileAddress(index, slot));
  EmitCopy(code_, sets_[index], operand);
}

int64_t CopyAhead::Block() const { return code_.plan().blocks[static_cast<size_t>(axis_)]; }

std::string CopyAhead::Before(const std::string& slot) const {
  return Cat(slot, " == 0 ? ", stages_ - 1, " : ", slot, " - 1");
}

std::string CopyAhead::TileAddress(size_t index, const std::string& slot) const {
  return Cat("held + ", held_at_ + offsets_[index], " + ", slot, " * ", tile_bytes_);
}

}  // namespace telemetry::worker::codegen::emit
