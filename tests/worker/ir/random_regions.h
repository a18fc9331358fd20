#pragma once

#include <optional>
#include <vector>

#include "tests/worker/ir/random_terms.h"
#include "tests/worker/ir/rng.h"
#include "worker/ir/trace.h"

namespace telemetry::worker::ir {

// The parts of random kernels that have graphs of their own. Whatever a loop carries, its result does not depend on the
// block it steps by.

// A tensor that a loop walks: loads its tile, given the loop's axis.
struct LoopInput {
  Size extent;
  std::function<Value(AxisRef)> load;
};

class RegionMaker {
 public:
  RegionMaker(Trace* trace, Rng* rng, TermMaker* terms) : trace_(*trace), rng_(*rng), terms_(*terms) {}

  // A loop that carries a sum, a largest value and a count, of what a random computation makes of the tile and the
  // pool. `axes` are those of the carried values: all that the tile and the terms of the pool have.
  Terms Accumulate(const LoopInput& input, const std::vector<AxisRef>& axes, const Terms& pool);
  // The sum of exponentials less the largest value seen so far, as attention has it.
  std::optional<Term> OnlineSum(const LoopInput& input, const std::vector<AxisRef>& axes);
  // a and b along the loop's axis.
  std::optional<Term> DotProduct(const LoopInput& a, const LoopInput& b, const std::vector<AxisRef>& axes);
  // A dot of inputs along `count` elements, brought into bounds.
  static std::optional<Term> ScaledDot(const Value& dot, int64_t count);

  // One of two computations, as a scalar of the tile says.
  std::optional<Term> Branch(const Term& x, Value condition);
  // Halves a few times, the count being carried.
  std::optional<Term> Repeat(const Term& x);
  // A helper function of two values.
  std::optional<Term> Helper(const Term& x, const Term& y);

 private:
  Term Tile(Value value) const;
  // A term with the axis, from a few random steps; at least the tile itself.
  Term Computed(const Term& tile, int axis, Terms pool);
  Term Simple(const Term& x);

  Trace& trace_;
  Rng& rng_;
  TermMaker& terms_;
};

}  // namespace telemetry::worker::ir
