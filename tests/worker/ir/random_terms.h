#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "tests/worker/ir/rng.h"
#include "worker/ir/trace.h"

namespace telemetry::worker::ir {

// A traced value with what is known of it: every element lies in [low, high], and float32 arithmetic is off by at most
// `error`. Exact values are the same on every device.
struct Term {
  Value value;
  double low = 0;
  double high = 0;
  double error = 0;
  bool exact() const { return error == 0; }
  double magnitude() const;
  bool is_float() const { return IsFloat(value.dtype()); }
  bool HasAxis(int axis) const;
};
using Terms = std::vector<Term>;

// Values stay below this, so that nothing grows out of float32 or f16.
inline constexpr double kLargestTerm = 64;
// And errors below this, so that the comparison still says something.
inline constexpr double kLargestError = 1e-2;

// The error of one float32 operation that gives values of that magnitude; the functions of OpenCL may be off by 16
// units in the last place.
double RoundingError(double magnitude);

// Makes terms of terms. Each returns nothing where the result would leave the bounds.
class TermMaker {
 public:
  TermMaker(Trace* trace, Rng* rng) : trace_(*trace), rng_(*rng) {}

  // A random pointwise operation on terms of the pool (nearly always possible).
  std::optional<Term> Pointwise(const Terms& pool);
  // A random reduction of the term along an axis that it has, of so many elements.
  std::optional<Term> Reduction(const Term& term, AxisRef axis, int64_t extent);
  // To f16, bf16, f32, i32 or bool, as far as that is possible with what is known.
  std::optional<Term> Converted(const Term& term);

 private:
  std::optional<Term> FloatUnary(const Term& x);
  std::optional<Term> FloatBinary(const Term& x, const Term& y);
  std::optional<Term> IntegerBinary(const Term& x, const Term& y);
  std::optional<Term> Logical(const Term& x, const Term& y);
  std::optional<Term> Compared(const Term& x, const Term& y);
  std::optional<Term> Selected(const Term& condition, const Term& x, const Term& y);

  Trace& trace_;
  Rng& rng_;
};

// A term whose value is `value`, with float bounds; nothing where they are too wide.
std::optional<Term> Bounded(Value value, double low, double high, double error);

}  // namespace telemetry::worker::ir
