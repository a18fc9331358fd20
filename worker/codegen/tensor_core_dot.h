#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "worker/codegen/dot.h"
#include "worker/codegen/mma_operand.h"

namespace telemetry::worker::codegen {

// What all dots on tensor cores have in common while they become text: the tile's parts, and operands that come to
// shared memory, or stay in registers. `rows` and `columns` are the operands, as AddDotMma has them.
class TensorCoreDot {
 public:
  TensorCoreDot(TileCode& code, const MmaDot& dot, int summed, const TileValue& rows, const TileValue& columns,
                const TileValue& result);

 protected:
  bool is_tf32() const { return dot_.type == MmaType::kTf32; }
  const AxisLayout& layout(int axis) const { return code_.set(0).of(axis); }
  // Tiles of one instruction, of a warp, along an axis, and how far it is from one to the next.
  int64_t Tiles(int axis) const { return layout(axis).registers[1].count; }
  int64_t TileStride(int axis) const { return layout(axis).registers[1].stride; }
  // Instructions along the summed axis.
  int64_t Steps() const { return code_.plan().spans[static_cast<size_t>(summed_)] / MmaDepth(dot_.type); }

  // Sums of an earlier dot: along the summed axis they have the layout of columns, and each warp has all of them.
  bool RowsAreInPlace() const;
  // Sees to it that the operands are in shared memory, but for rows that stay where they are.
  void Place();
  // What the loop around has left for this dot to send for (CopiesAhead), in parts.
  std::vector<std::function<void()>>& unsent() { return unsent_; }
  // Rows that are in place, of row tile r, as the instruction takes them, to `to`[r].
  void PackRows(const std::string& step, const std::string& to);
  // The element of a value at these registers of two of its axes; of the others it has one each.
  std::string ElementOf(const TileValue& value, int first, const std::string& first_index, int second,
                        const std::string& second_index) const;

  TileCode& code_;
  CodeWriter& out_;
  const MmaDot& dot_;
  const int summed_;
  const TileValue& rows_;
  const TileValue& columns_;
  const TileValue& result_;
  MmaOperand shared_rows_;
  MmaOperand shared_columns_;

 private:
  // Whether the operand has still to be filled, in scratch.
  bool Declare(const TileValue& value, const MmaOperand& operand, int64_t* scratch_bytes);
  void Fill(const TileValue& value, const MmaOperand& operand);
  void TakeUnsent(int graph);

  std::vector<std::function<void()>> unsent_;
};

}  // namespace telemetry::worker::codegen
