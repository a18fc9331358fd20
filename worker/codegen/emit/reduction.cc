#include "worker/codegen/emit/reduction.h"

#include <algorithm>

#include "worker/codegen/emit/combiner.h"
#include "worker/codegen/emit/exchange.h"

namespace telemetry::worker::codegen::emit {
namespace {

using record::Cat;

constexpr int64_t kMostReads = 16;  // reads of shared memory by a thread in one exchange

std::vector<Bits> SplitIntoRuns(int64_t mask, int64_t most) {
  std::vector<Bits> runs;
  for (int64_t bit = 1; bit <= mask; bit *= 2) {
    if ((mask & bit) == 0) continue;
    const bool extends = !runs.empty() && runs.back().lowest * runs.back().count == bit && runs.back().count < most;
    if (extends) {
      runs.back().count *= 2;
    } else {
      runs.push_back({.lowest = bit, .count = 2});
    }
  }
  return runs;
}

class Reduction {
 public:
  Reduction(TileCode& code, const ir::Node& node, const TileValue& value)
      : code_(code), node_(node), value_(value), combiner_(code, node.op, value.type) {
    std::vector<int> shape = value.axes;
    shape.erase(std::remove(shape.begin(), shape.end(), node.axis), shape.end());
    result_ = code.Declare(value.type, shape, value.set);
    if (combiner_.has_position()) position_ = code.Declare(text::RegisterType::kInt, shape, value.set);
  }

  TileValue Emit() {
    OwnRegisters();
    int64_t bits = layout().ThreadBits() & (threads() - 1);
    if (is_cuda()) {
      code_.ForRegisters(value_.set, result_.axes,
                         [&] { combiner_.CombineLanes(Own(), OwnPosition(), bits & (kLanes - 1)); });
      bits &= ~(kLanes - 1);
    }
    const Partials partials = {combiner_, result_, position_};
    for (const Bits& run : SplitIntoRuns(bits, is_cuda() ? kLanes : kMostReads))
      EmitExchange(code_, partials, run, false);
    for (const Bits& run : SplitIntoRuns(layout().ThreadBits() / threads(), kLanes))
      EmitExchange(code_, partials, run, true);
    return combiner_.has_position() ? position_ : result_;
  }

 private:
  const plan::AxisLayout& layout() const { return code_.set(value_.set).of(node_.axis); }
  bool is_cuda() const { return code_.dialect().is_cuda(); }
  int64_t threads() const { return code_.plan().threads; }
  std::string Own() const { return code_.Element(result_); }
  std::string OwnPosition() const { return combiner_.has_position() ? code_.Element(position_) : ""; }

  void OwnRegisters() {
    text::CodeWriter& out = code_.out();
    const int axis = node_.axis;
    code_.ForRegisters(value_.set, result_.axes, [&] {
      const std::string i = TileCode::RegisterIndex(axis);
      out.Line(Own(), " = ", code_.Element(value_, axis, "0"), ";");
      if (combiner_.has_position()) {
        out.Open("");
        out.Line("const int ", i, " = 0;");
        out.Line(OwnPosition(), " = (int)(", code_.Position(value_.set, axis), ");");
        out.Close();
      }
      if (layout().Registers() == 1) return;
      out.Line("UNROLL");
      out.Open("for (int ", i, " = 1; ", i, " < ", layout().Registers(), "; ++", i, ")");
      const std::string at = Cat("(int)(", code_.Position(value_.set, axis), ")");
      combiner_.Combine(Own(), OwnPosition(), code_.Element(value_), at);
      out.Close();
    });
  }

  TileCode& code_;
  const ir::Node& node_;
  const TileValue& value_;
  Combiner combiner_;
  TileValue result_;
  TileValue position_;
};

}  // namespace

TileValue EmitReduction(TileCode& code, const ir::Node& node, const TileValue& value) {
  return Reduction(code, node, value).Emit();
}

}  // namespace telemetry::worker::codegen::emit
