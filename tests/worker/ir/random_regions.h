#pragma once

#include <optional>
#include <vector>

#include "tests/worker/ir/random_terms.h"
#include "tests/worker/ir/rng.h"
#include "worker/ir/trace.h"

namespace telemetry::worker::ir {

// The parts of random kernels that have graphs of their own. The result of a loop never depends on the block of the
// loop.

// A tensor that a loop walks. `load` loads its tile for the axis of the loop.
struct LoopInput {
  Size extent;
  std::function<Value(AxisRef)> load;
};

// A generator of loops, branches and helper functions.
class RegionMaker {
 public:
  RegionMaker(Trace* trace, Rng* rng, TermMaker* terms) : trace_(*trace), rng_(*rng), terms_(*terms) {}

  // Adds a loop that carries a sum, a maximum and a count. They are computed from random operations on the tile and the
  // pool. `axes` are the axes of the carried values: all that the tile and the terms of the pool have.
  Terms Accumulate(const LoopInput& input, const std::vector<AxisRef>& axes, const Terms& pool);
  // Adds a loop with the sum of exponentials relative to the running maximum, as in attention.
  std::optional<Term> OnlineSum(const LoopInput& input, const std::vector<AxisRef>& axes);
  // Adds a loop with the dot of a and b along the axis of the loop.
  std::optional<Term> DotProduct(const LoopInput& a, const LoopInput& b, const std::vector<AxisRef>& axes);
  // Returns a dot of inputs along `count` elements, scaled into bounds.
  static std::optional<Term> ScaledDot(const Value& dot, int64_t count);

  // Adds a branch: one of two computations, chosen by a scalar.
  std::optional<Term> Branch(const Term& x, Value condition);
  // Adds a while loop that halves a few times and carries the count.
  std::optional<Term> Repeat(const Term& x);
  // Adds a call of a helper function of two values.
  std::optional<Term> Helper(const Term& x, const Term& y);

 private:
  Term Tile(Value value) const;
  // Returns a term with the axis after a few random steps, or the tile itself.
  Term Computed(const Term& tile, int axis, Terms pool);
  Term Simple(const Term& x);

  Trace& trace_;
  Rng& rng_;
  TermMaker& terms_;
};

}  // namespace telemetry::worker::ir
