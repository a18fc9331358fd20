#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "worker/codegen/emit/dot.h"
#include "worker/codegen/emit/mma_operand.h"

namespace telemetry::worker::codegen::emit {

// The base class of the emitters of dots on tensor cores. It computes the parts of the tile and puts the operands into
// shared memory, or leaves them in registers. `rows` and `columns` are the operands as in AddDotMma().
class TensorCoreDot {
 public:
  TensorCoreDot(TileCode& code, const plan::MmaDot& dot, int summed, const TileValue& rows, const TileValue& columns,
                const TileValue& result);

 protected:
  bool is_tf32() const { return dot_.type == text::MmaType::kTf32; }
  const plan::AxisLayout& layout(int axis) const { return code_.set(0).of(axis); }
  // Return the number of a warp's instruction tiles along an axis, and the distance in elements from one to the next.
  int64_t Tiles(int axis) const { return layout(axis).registers[1].count; }
  int64_t TileStride(int axis) const { return layout(axis).registers[1].stride; }
  // Returns the number of instructions along the summed axis.
  int64_t Steps() const { return code_.plan().spans[static_cast<size_t>(summed_)] / text::MmaDepth(dot_.type); }

  // Reports whether the rows are sums of an earlier dot that can stay in registers: they have the layout of columns
  // along the summed axis, and each warp has all of them.
  bool RowsAreInPlace() const;
  // Emits code that puts the operands into shared memory, except rows that are in place.
  void Place();
  // The prefetches that the surrounding loop leaves for this dot to emit between its steps (CopiesAhead::unsent).
  std::vector<std::function<void()>>& unsent() { return unsent_; }
  // Emits code that packs the rows that are in place, for row tile r, into the instruction's registers `to`[r].
  void PackRows(const std::string& step, const std::string& to);
  // Returns the element of a value at these registers of two of its axes. The value has one register along each other
  // axis.
  std::string ElementExpression(const TileValue& value, int first, const std::string& first_index, int second,
                                const std::string& second_index) const;

  TileCode& code_;
  text::CodeWriter& out_;
  const plan::MmaDot& dot_;
  const int summed_;
  const TileValue& rows_;
  const TileValue& columns_;
  const TileValue& result_;
  MmaOperand shared_rows_;
  MmaOperand shared_columns_;

 private:
  // Declares the operand. Returns true if it is in scratch memory and must still be filled, and adds its size to
  // `*scratch_bytes`; returns false if an earlier copy has filled it.
  bool Declare(const TileValue& value, const MmaOperand& operand, int64_t* scratch_bytes);
  void Fill(const TileValue& value, const MmaOperand& operand);
  void TakeUnsent(int graph);

  std::vector<std::function<void()>> unsent_;
};

}  // namespace telemetry::worker::codegen::emit
