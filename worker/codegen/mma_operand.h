#pragma once

#include <cstdint>
#include <string>

#include "worker/codegen/mma_plan.h"
#include "worker/codegen/tile_code.h"

namespace telemetry::worker::codegen {

// An operand of a tensor core's dot in shared memory: a matrix of its own axis and the summed one, with the axis that
// is contiguous in its layout inside. Rows are 16 bytes longer than what they hold, so that eight of them, which
// ldmatrix reads at once, lie on different banks.
class MmaOperand {
 public:
  MmaOperand(TileCode& code, MmaType type, std::string name, const TileValue& value, int own, int summed);

  int64_t bytes() const;
  // Declares the matrix at this offset of scratch.
  void Declare(int64_t offset_bytes) const;
  // Writes the value into it, in pieces as wide as its registers allow.
  void Write() const;
  // The axis along which the matrix is not contiguous: ldmatrix has to transpose where it is the summed one.
  bool summed_is_inside() const { return summed_is_inside_; }
  // The address of the element at these positions: of its own axis, and of the summed one.
  std::string AddressOf(const std::string& own, const std::string& summed) const;

 private:
  TileCode& code_;
  MmaType type_;
  std::string name_;
  const TileValue& value_;
  int own_;
  int summed_;
  bool summed_is_inside_ = false;
  int64_t row_ = 0;  // elements from one row to the next
};

}  // namespace telemetry::worker::codegen
