#pragma once

#include <cstdint>
#include <string>

#include "worker/codegen/tile_code.h"

namespace telemetry::worker::codegen {

// How two partial results of a reduction become one. A result is one variable, or for kArgMax two: value and position
// (kSum, kAMax, kAMin, kProd have none, and ignore what is given for it). Refers to the code.
class Combiner {
 public:
  Combiner(TileCode& code, ir::Op op, bool is_float) : code_(code), op_(op), is_float_(is_float) {}

  bool has_position() const { return op_ == ir::Op::kArgMax; }

  // to = combine(to, from)
  void Combine(const std::string& to, const std::string& to_position, const std::string& from,
               const std::string& from_position) const;

  // own = combine(own, those of the lanes that differ in these bits): by shuffles (CUDA), bit by bit.
  void CombineLanes(const std::string& own, const std::string& own_position, int64_t bits) const;

 private:
  std::string Expression(const std::string& x, const std::string& y) const;
  // Of two, the larger; a NaN is the largest; of equals, the first.
  std::string Better() const;

  TileCode& code_;
  ir::Op op_;
  bool is_float_;
};

}  // namespace telemetry::worker::codegen
