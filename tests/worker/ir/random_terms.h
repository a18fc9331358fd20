#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "tests/worker/ir/rng.h"
#include "worker/ir/trace.h"

namespace telemetry::worker::ir {

// A traced value with its bounds: every element is in [low, high], and the error of float32 arithmetic is at most
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

// Bound of the values, which keeps them within the range of float32 and f16.
inline constexpr double kLargestTerm = 64;
// Bound of the errors, which keeps comparisons meaningful.
inline constexpr double kLargestError = 1e-2;

// Returns the error of one float32 operation with results of this magnitude. Functions of OpenCL may have an error of
// 16 units in the last place.
double RoundingError(double magnitude);

// A generator of terms from terms. Each function returns nullopt if the result would exceed the bounds.
class TermMaker {
 public:
  TermMaker(Trace* trace, Rng* rng) : trace_(*trace), rng_(*rng) {}

  // Applies a random pointwise operation to terms of the pool. This is nearly always possible.
  std::optional<Term> Pointwise(const Terms& pool);
  // Applies a random reduction along an axis of the term, which has `extent` elements.
  std::optional<Term> Reduction(const Term& term, AxisRef axis, int64_t extent);
  // Converts to f16, bf16, f32, i32 or bool, if the bounds of the term allow it.
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

// Returns a term of this value and these bounds, or nullopt if the bounds are too wide.
std::optional<Term> Bounded(Value value, double low, double high, double error);

}  // namespace telemetry::worker::ir
