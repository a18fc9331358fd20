#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "worker/codegen/mma_plan.h"
#include "worker/codegen/tile_code.h"

namespace telemetry::worker::codegen {

// An operand of a tensor core's dot in shared memory: a matrix of its own axis and the summed one, with the axis that
// is contiguous in its layout inside.
//
// For mma, rows are 16 bytes longer than what they hold, so that eight of them, which ldmatrix reads at once, lie on
// different banks. For wgmma it lies as that instruction wants it: in blocks of rows of 128 bytes (64, 32, where it is
// narrower), a block after the other, and inside a block the pieces of 16 bytes of a row have changed places (swizzle),
// in a way that eight rows after each other have all of them on different banks. Blocks begin at multiples of 1024.
class MmaOperand {
 public:
  // `axes`: of the operand, in the order of its layout.
  MmaOperand(TileCode& code, MmaType type, std::string name, const std::vector<int>& axes, int own, int summed);
  // What a layout set copies.
  MmaOperand(TileCode& code, std::string name, int copied_set);

  int own() const { return own_; }
  int summed() const { return summed_; }
  // The axis along which the matrix is contiguous: ldmatrix has to transpose where it is not the summed one.
  int inside() const { return summed_is_inside_ ? summed_ : own_; }
  bool summed_is_inside() const { return summed_is_inside_; }
  int64_t bytes() const;
  // For mma. From one position of the axis to the next.
  int64_t OwnStrideBytes() const;
  int64_t SummedStrideBytes() const;

  // For wgmma. The bytes from the matrix's beginning to this position, before pieces change places; the positions are
  // multiples of eight.
  std::string BlockOffset(const std::string& own, const std::string& summed) const;
  int64_t block_row_bytes() const { return block_row_bytes_; }
  // From a block to the next.
  int64_t block_bytes() const { return block_row_bytes_ * outside_span_; }

  // Declares the matrix where this pointer to bytes points.
  void Declare(const std::string& pointer) const;
  // Writes the value into it, in pieces as wide as its registers allow.
  void Write(const TileValue& value) const;
  // The address of the element at these positions: of its own axis, and of the summed one.
  std::string AddressOf(const std::string& own, const std::string& summed) const;

 private:
  TileCode& code_;
  MmaType type_;
  std::string name_;
  int own_;
  int summed_;
  bool summed_is_inside_ = false;
  int64_t outside_span_ = 0;
  int64_t row_ = 0;              // elements from one row to the next
  int64_t block_row_bytes_ = 0;  // 0: for mma
};

// What threads have written of operands, copies included that they have waited for, is there for all of the block and
// for its tensor cores behind this: a barrier.
void ShareOperands(TileCode& code);

}  // namespace telemetry::worker::codegen
