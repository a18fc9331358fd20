#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "worker/codegen/emit/tile_code.h"
#include "worker/codegen/plan/mma_plan.h"

namespace telemetry::worker::codegen::emit {

// An operand of a tensor core dot in shared memory: a matrix of the operand's own axis and the summed axis. The inside
// axis, the contiguous one, is the axis that is contiguous in the operand's layout.
//
// For mma, rows are padded by 16 bytes, so that the eight rows that ldmatrix reads at once are on different banks. For
// wgmma, the matrix has the format that the instruction requires: consecutive blocks with rows of 128 bytes (64 or 32
// if the matrix is narrower). Inside a block the 16-byte pieces of a row are permuted (swizzled), so that eight
// consecutive rows have their pieces on different banks. Blocks begin at multiples of 1024 bytes.
class MmaOperand {
 public:
  // An operand that is written from registers. `axes` are the operand's axes in the order of its layout.
  MmaOperand(TileCode& code, text::MmaType type, std::string name, const std::vector<int>& axes, int own, int summed);
  // An operand that layout set `copied_set` copies to shared memory (SharedCopy).
  MmaOperand(TileCode& code, std::string name, int copied_set);

  int own() const { return own_; }
  int summed() const { return summed_; }
  // The axis along which the matrix is contiguous. ldmatrix must transpose if this is not the summed axis.
  int inside() const { return summed_is_inside_ ? summed_ : own_; }
  bool summed_is_inside() const { return summed_is_inside_; }
  // Returns the size in shared memory, padding included.
  int64_t bytes() const;
  // Return the distance from one position of the axis to the next. For mma only.
  int64_t OwnStrideBytes() const;
  int64_t SummedStrideBytes() const;

  // Returns the offset in bytes of a position from the beginning of the matrix, before swizzling. Both positions are
  // multiples of eight. For wgmma only.
  std::string BlockOffset(const std::string& own, const std::string& summed) const;
  int64_t block_row_bytes() const { return block_row_bytes_; }
  // The distance from one block to the next.
  int64_t block_bytes() const { return block_row_bytes_ * outside_span_; }

  // Emits the declaration of the matrix at this address, an expression of type u8*.
  void Declare(const std::string& pointer) const;
  // Emits the stores of the value into the matrix, in pieces as wide as the value's registers allow.
  void Write(const TileValue& value) const;
  // Returns the address of the element at these positions along its own axis and the summed axis.
  std::string ElementAddress(const std::string& own, const std::string& summed) const;
  // For wgmma: returns the address of the element at the current register of a layout set. Unlike ElementAddress(), the
  // expression is a sum in which the register of the axis that is not inside contributes a constant, if its positions
  // have the same swizzle. The compiler then needs one address for all of these registers.
  std::string RegisterAddress(int set) const;

 private:
  int outside() const { return summed_is_inside_ ? own_ : summed_; }

  TileCode& code_;
  text::MmaType type_;
  std::string name_;
  int own_;
  int summed_;
  bool summed_is_inside_ = false;
  int64_t outside_span_ = 0;     // span of the axis that is not inside
  int64_t row_ = 0;              // for mma: elements from one row to the next
  int64_t block_row_bytes_ = 0;  // for wgmma; 0 for mma
};

// Emits a barrier after which operands that threads have written, and copies that they have waited for, are visible to
// all threads of the block and to its tensor cores.
void ShareOperands(TileCode& code);

}  // namespace telemetry::worker::codegen::emit
