#pragma once

#include <cstdint>
#include <string>

#include "worker/codegen/emit/tile_code.h"

namespace telemetry::worker::codegen::emit {

inline constexpr int64_t kLanes = 32;  // threads of a warp

// An emitter of code that combines two partial results of a reduction into one. A result is one variable, or for
// kArgMax two: value and position. The other operations (kSum, kAMax, kAMin, kProd) have no position and ignore the
// position arguments. Refers to `code`, which must outlive the combiner.
class Combiner {
 public:
  Combiner(TileCode& code, ir::Op op, text::RegisterType type) : code_(code), op_(op), type_(type) {}

  bool has_position() const { return op_ == ir::Op::kArgMax; }

  // Emits to = combine(to, from).
  void Combine(const std::string& to, const std::string& to_position, const std::string& from,
               const std::string& from_position) const;

  // Emits code that combines `own` over all lanes that differ in these bits of the lane's index, with one warp shuffle
  // for each bit (CUDA only).
  void CombineLanes(const std::string& own, const std::string& own_position, int64_t bits) const;

 private:
  std::string Expression(const std::string& x, const std::string& y) const;
  // Adds the kArgMax comparison to the prelude and returns its name. The larger value wins, NaN is the largest value,
  // and of equal values the one at the lower position wins.
  std::string Better() const;

  TileCode& code_;
  ir::Op op_;
  text::RegisterType type_;
};

}  // namespace telemetry::worker::codegen::emit
