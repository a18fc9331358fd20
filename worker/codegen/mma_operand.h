#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "worker/codegen/mma_plan.h"
#include "worker/codegen/tile_code.h"

namespace telemetry::worker::codegen {

// An operand of a tensor core's dot in shared memory: a matrix of its own axis and the summed one, with the axis that
// is contiguous in its layout inside. Rows are 16 bytes longer than what they hold, so that eight of them, which
// ldmatrix reads at once, lie on different banks.
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
  // From one position of the axis to the next.
  int64_t OwnStrideBytes() const;
  int64_t SummedStrideBytes() const;

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
  int64_t row_ = 0;  // elements from one row to the next
};

}  // namespace telemetry::worker::codegen
