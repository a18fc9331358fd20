#pragma once

#include "absl/status/statusor.h"
#include "worker/spec/expression_tree.h"
#include "worker/spec/value.h"

namespace telemetry::worker::spec {

// Python's operators on numbers. INVALID_ARGUMENT: an operand is not a number, a division by zero, or the result does
// not fit 64 bits.

// Requires an operator of two numbers: kAdd to kShiftRight.
absl::StatusOr<Value> Calculate(Op op, const Value& a, const Value& b);
// Requires kNegate, kPlus or kInvert.
absl::StatusOr<Value> Calculate(Op op, const Value& a);
// Requires a comparison, kEqual to kGreaterOrEqual. Strings and lists are ordered lexicographically.
absl::StatusOr<bool> Compare(Op op, const Value& a, const Value& b);

// Converts a floating point number without a fraction to an integer.
absl::StatusOr<Value> ToInteger(double value);

}  // namespace telemetry::worker::spec
