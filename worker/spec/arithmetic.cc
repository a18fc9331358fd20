#include "worker/spec/arithmetic.h"

#include <algorithm>
#include <cmath>
#include <compare>
#include <limits>

#include "absl/status/status.h"
#include "proto/base/status_macros.h"
#include "proto/record/strings.h"

namespace telemetry::worker::spec {
namespace {

absl::Status BeyondRange() { return absl::InvalidArgumentError("the integer does not fit 64 bits"); }

absl::Status DivisionByZero() { return absl::InvalidArgumentError("division by zero"); }

absl::Status BadOperands(const Value& a, const Value& b) {
  return absl::InvalidArgumentError(
      record::Cat("the operator does not apply to ", KindName(a.kind()), " and ", KindName(b.kind())));
}

// Returns the quotient rounded down, and the remainder, which has the sign of the divisor.
int64_t FloorQuotient(int64_t a, int64_t b) {
  const int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

int64_t FloorRemainder(int64_t a, int64_t b) {
  const int64_t remainder = a % b;
  return remainder != 0 && (a < 0) != (b < 0) ? remainder + b : remainder;
}

double RealRemainder(double a, double b) {
  const double remainder = std::fmod(a, b);
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

absl::StatusOr<Value> WholePower(int64_t base, int64_t exponent) {
  int64_t result = 1;
  while (exponent > 0) {
    if ((exponent & 1) != 0 && __builtin_mul_overflow(result, base, &result)) return BeyondRange();
    exponent >>= 1;
    if (exponent > 0 && __builtin_mul_overflow(base, base, &base)) return BeyondRange();
  }
  return Value::Integer(result);
}

absl::StatusOr<Value> Shift(Op op, int64_t a, int64_t bits) {
  if (bits < 0) return absl::InvalidArgumentError("a shift by a negative number of bits");
  if (op == Op::kShiftRight) return Value::Integer(a >> std::min<int64_t>(bits, 63));
  int64_t result = 0;
  if (a != 0 && (bits > 62 || __builtin_mul_overflow(a, int64_t{1} << bits, &result))) return BeyondRange();
  return Value::Integer(result);
}

absl::StatusOr<Value> Whole(Op op, int64_t a, int64_t b) {
  int64_t result = 0;
  switch (op) {
    case Op::kAdd:
      if (__builtin_add_overflow(a, b, &result)) return BeyondRange();
      return Value::Integer(result);
    case Op::kSubtract:
      if (__builtin_sub_overflow(a, b, &result)) return BeyondRange();
      return Value::Integer(result);
    case Op::kMultiply:
      if (__builtin_mul_overflow(a, b, &result)) return BeyondRange();
      return Value::Integer(result);
    case Op::kFloorDivide:
    case Op::kModulo:
      if (b == 0) return DivisionByZero();
      if (b == -1) return op == Op::kModulo ? Value::Integer(0) : Whole(Op::kSubtract, 0, a);
      return Value::Integer(op == Op::kModulo ? FloorRemainder(a, b) : FloorQuotient(a, b));
    case Op::kBitAnd:
      return Value::Integer(a & b);
    case Op::kBitOr:
      return Value::Integer(a | b);
    case Op::kBitXor:
      return Value::Integer(a ^ b);
    case Op::kShiftLeft:
    case Op::kShiftRight:
      return Shift(op, a, b);
    case Op::kPower:
      if (b >= 0) return WholePower(a, b);
      break;
    default:
      break;
  }
  return absl::UnimplementedError("");
}

absl::StatusOr<Value> Real(Op op, double a, double b) {
  switch (op) {
    case Op::kAdd:
      return Value::Real(a + b);
    case Op::kSubtract:
      return Value::Real(a - b);
    case Op::kMultiply:
      return Value::Real(a * b);
    case Op::kDivide:
      if (b == 0) return DivisionByZero();
      return Value::Real(a / b);
    case Op::kFloorDivide:
      if (b == 0) return DivisionByZero();
      return Value::Real(std::floor(a / b));
    case Op::kModulo:
      if (b == 0) return DivisionByZero();
      return Value::Real(RealRemainder(a, b));
    case Op::kPower:
      if (a == 0 && b < 0) return DivisionByZero();
      return Value::Real(std::pow(a, b));
    default:
      return absl::InvalidArgumentError("the operator applies to integers only");
  }
}

// Orders numbers, strings and lists. unordered: a NaN.
absl::StatusOr<std::partial_ordering> Order(const Value& a, const Value& b) {
  if (a.is_whole() && b.is_whole()) return std::partial_ordering(a.integer() <=> b.integer());
  if (a.is_number() && b.is_number()) return a.real() <=> b.real();
  if (a.is_text() && b.is_text()) return std::partial_ordering(a.text().compare(b.text()) <=> 0);
  if (!a.is_list() || !b.is_list()) return BadOperands(a, b);
  const size_t common = std::min(a.list().size(), b.list().size());
  for (size_t i = 0; i < common; ++i) {
    ASSIGN_OR_RETURN(const std::partial_ordering order, Order(a.list()[i], b.list()[i]));
    if (order != std::partial_ordering::equivalent) return order;
  }
  return std::partial_ordering(a.list().size() <=> b.list().size());
}

}  // namespace

absl::StatusOr<Value> Calculate(Op op, const Value& a, const Value& b) {
  if (!a.is_number() || !b.is_number()) return BadOperands(a, b);
  const bool is_inexact = op == Op::kDivide || (op == Op::kPower && b.is_whole() && b.integer() < 0);
  if (a.is_whole() && b.is_whole() && !is_inexact) return Whole(op, a.integer(), b.integer());
  return Real(op, a.real(), b.real());
}

absl::StatusOr<Value> Calculate(Op op, const Value& a) {
  if (!a.is_number()) {
    return absl::InvalidArgumentError(record::Cat("the operator does not apply to ", KindName(a.kind())));
  }
  if (op == Op::kInvert) {
    if (!a.is_whole()) return absl::InvalidArgumentError("the operator applies to integers only");
    return Value::Integer(~a.integer());
  }
  if (op == Op::kPlus) return a.is_whole() ? Value::Integer(a.integer()) : a;
  return a.is_whole() ? Whole(Op::kSubtract, 0, a.integer()) : Value::Real(-a.real());
}

absl::StatusOr<bool> Compare(Op op, const Value& a, const Value& b) {
  if (op == Op::kEqual) return a.Equals(b);
  if (op == Op::kUnequal) return !a.Equals(b);
  ASSIGN_OR_RETURN(const std::partial_ordering order, Order(a, b));
  switch (op) {
    case Op::kLess:
      return order < 0;
    case Op::kLessOrEqual:
      return order <= 0;
    case Op::kGreater:
      return order > 0;
    default:
      return order >= 0;
  }
}

absl::StatusOr<Value> ToInteger(double value) {
  constexpr double kLimit = 9223372036854775808.0;  // 2^63
  if (!(value >= -kLimit && value < kLimit)) return BeyondRange();
  return Value::Integer(static_cast<int64_t>(value));
}

}  // namespace telemetry::worker::spec
