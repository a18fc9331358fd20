#include "tests/worker/ir/random_terms.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace telemetry::worker::ir {
namespace {

using device::DType;

constexpr double kIntegerLimit = 2147483648.0;
// Integers below this are exact in float32, and so are sums of a few of them.
constexpr double kExactInFloat = 1 << 20;

double InputError(const Term& x, double slope) { return x.error * slope; }

Term Boolean(Value value) { return {.value = value, .low = 0, .high = 1}; }

// Returns an i32 term. If it can leave the range it wraps, and can have any value.
Term Integer(Value value, double low, double high) {
  const bool wraps = low < -kIntegerLimit || high >= kIntegerLimit;
  return {.value = value, .low = wraps ? -kIntegerLimit : low, .high = wraps ? kIntegerLimit - 1 : high};
}

std::pair<double, double> ProductBounds(const Term& x, const Term& y) {
  const double corners[] = {x.low * y.low, x.low * y.high, x.high * y.low, x.high * y.high};
  return {*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
}

}  // namespace

double Term::magnitude() const { return std::max(std::abs(low), std::abs(high)); }

bool Term::HasAxis(int axis) const {
  const std::vector<int>& axes = value.shape();
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

double RoundingError(double magnitude) { return 16 * std::numeric_limits<float>::epsilon() / 2 * magnitude + 1e-30; }

std::optional<Term> Bounded(Value value, double low, double high, double error) {
  const Term term = {.value = value, .low = low, .high = high, .error = error};
  if (term.magnitude() > kLargestTerm || error > kLargestError) return std::nullopt;
  return term;
}

std::optional<Term> TermMaker::Pointwise(const Terms& pool) {
  const Term x = rng_.Pick(pool);
  const Term y = rng_.Pick(pool);
  const Term z = rng_.Pick(pool);
  if (rng_.OneIn(6)) return Converted(x);
  if (rng_.OneIn(5) && x.exact() && y.exact()) return Compared(x, y);
  if (x.value.dtype() == DType::kBool) {
    if (y.value.dtype() == DType::kBool) return Logical(x, y);
    return Selected(x, y, z);
  }
  if (x.is_float() && rng_.OneIn(2)) return FloatUnary(x);
  if (x.is_float() && y.is_float()) return FloatBinary(x, y);
  if (x.value.dtype() == DType::kI32 && y.value.dtype() == DType::kI32) return IntegerBinary(x, y);
  return std::nullopt;
}

std::optional<Term> TermMaker::FloatUnary(const Term& x) {
  const Value& v = x.value;
  // Functions with a slope of at most 2/sqrt(pi).
  const auto gentle = [&](Value value, double low) {
    return Bounded(value, low, 1, InputError(x, 1.13) + RoundingError(1));
  };
  const double root_error = RoundingError(kLargestTerm);
  switch (rng_.Below(15)) {
    case 0:
      return Bounded(-v, -x.high, -x.low, x.error);
    case 1:
      return Bounded(abs(v), 0, x.magnitude(), x.error);
    case 2:
      return gentle(sigmoid(v), 0);
    case 3:
      return gentle(tanh(v), -1);
    case 4:
      return gentle(erf(v), -1);
    case 5:
      return gentle(sin(v), -1);
    case 6:
      return gentle(cos(v), -1);
    case 7:
    case 8:
      if (x.high > 4) return std::nullopt;
      return Bounded(exp(v), 0, std::exp(x.high), InputError(x, std::exp(x.high)) + RoundingError(std::exp(x.high)));
    case 9:
      if (x.high > 5) return std::nullopt;
      return Bounded(exp2(v), 0, std::exp2(x.high),
                     InputError(x, std::exp2(x.high)) + RoundingError(std::exp2(x.high)));
    case 10:
      // For arguments of at least 1/4 the slope of log is at most 4, and that of log2 at most 6.
      return Bounded(log(abs(v) + 0.25), -1.4, 4.2, InputError(x, 4) + RoundingError(kLargestTerm));
    case 11:
      return Bounded(log2(abs(v) + 0.25), -2.1, 6.1, InputError(x, 6) + RoundingError(kLargestTerm));
    case 12:
      return Bounded(sqrt(abs(v) + 0.25), 0, std::sqrt(x.magnitude() + 0.25), InputError(x, 1) + root_error);
    case 13:
      return Bounded(rsqrt(abs(v) + 0.25), 0, 2, InputError(x, 4) + root_error);
    default: {
      const double factor = static_cast<double>(rng_.Between(-8, 8)) / 8;
      const double bound = std::abs(factor) * x.magnitude();
      return Bounded(v * factor, -bound, bound, InputError(x, 1) + RoundingError(bound));
    }
  }
}

std::optional<Term> TermMaker::FloatBinary(const Term& x, const Term& y) {
  const Value& a = x.value;
  const Value& b = y.value;
  const double error = x.error + y.error;
  const double sum = x.magnitude() + y.magnitude();
  switch (rng_.Below(6)) {
    case 0:
      return Bounded(a + b, x.low + y.low, x.high + y.high, error + RoundingError(sum));
    case 1:
      return Bounded(a - b, x.low - y.high, x.high - y.low, error + RoundingError(sum));
    case 2:
    case 3: {
      const auto [low, high] = ProductBounds(x, y);
      const double product = x.magnitude() * y.magnitude();
      return Bounded(a * b, low, high,
                     x.error * y.magnitude() + y.error * x.magnitude() + error + RoundingError(product));
    }
    case 4: {
      // The divisor is at least 1/2.
      const double bound = 2 * x.magnitude();
      return Bounded(a / (abs(b) + 0.5), -bound, bound,
                     2 * x.error + 4 * x.magnitude() * y.error + RoundingError(bound + sum));
    }
    default:
      if (rng_.OneIn(2)) {
        return Bounded(maximum(a, b), std::max(x.low, y.low), std::max(x.high, y.high), std::max(x.error, y.error));
      }
      return Bounded(minimum(a, b), std::min(x.low, y.low), std::min(x.high, y.high), std::max(x.error, y.error));
  }
}

std::optional<Term> TermMaker::IntegerBinary(const Term& x, const Term& y) {
  const Value& a = x.value;
  const Value& b = y.value;
  switch (rng_.Below(7)) {
    case 0:
      return Integer(a + b, x.low + y.low, x.high + y.high);
    case 1:
      return Integer(a - b, x.low - y.high, x.high - y.low);
    case 2: {
      const auto [low, high] = ProductBounds(x, y);
      return Integer(a * b, low, high);
    }
    case 3:
      return Integer(maximum(a, b), std::max(x.low, y.low), std::max(x.high, y.high));
    case 4:
      return Integer(minimum(a, b), std::min(x.low, y.low), std::min(x.high, y.high));
    case 5:
      return Integer(a * static_cast<int>(rng_.Between(100'000, 1'000'000)), -kIntegerLimit - 1, kIntegerLimit);
    default:
      // The negation of the smallest integer overflows.
      if (x.magnitude() >= kIntegerLimit) return std::nullopt;
      return rng_.OneIn(2) ? Integer(abs(a), 0, x.magnitude()) : Integer(-a, -x.high, -x.low);
  }
}

std::optional<Term> TermMaker::Logical(const Term& x, const Term& y) {
  switch (rng_.Below(3)) {
    case 0:
      return Boolean(x.value && y.value);
    case 1:
      return Boolean(x.value || y.value);
    default:
      return Boolean(!x.value);
  }
}

std::optional<Term> TermMaker::Compared(const Term& x, const Term& y) {
  if (x.value.dtype() == DType::kBool || y.value.dtype() == DType::kBool) return std::nullopt;
  // An integer that float32 cannot represent must not be compared as a float.
  if (x.is_float() != y.is_float() && std::max(x.magnitude(), y.magnitude()) > kExactInFloat) return std::nullopt;
  switch (rng_.Below(6)) {
    case 0:
      return Boolean(x.value == y.value);
    case 1:
      return Boolean(x.value != y.value);
    case 2:
      return Boolean(x.value < y.value);
    case 3:
      return Boolean(x.value <= y.value);
    case 4:
      return Boolean(x.value > y.value);
    default:
      return Boolean(x.value >= 0);
  }
}

std::optional<Term> TermMaker::Selected(const Term& condition, const Term& x, const Term& y) {
  if (x.value.dtype() == DType::kBool || y.value.dtype() == DType::kBool || x.is_float() != y.is_float()) {
    return std::nullopt;
  }
  const Value selected = trace_.Where(condition.value, x.value, y.value);
  return Term{.value = selected,
              .low = std::min(x.low, y.low),
              .high = std::max(x.high, y.high),
              .error = std::max(x.error, y.error)};
}

std::optional<Term> TermMaker::Converted(const Term& x) {
  Term result = x;
  switch (rng_.Below(5)) {
    case 0:
    case 1: {
      // Near a tie, device and reference may round to different sides.
      const DType narrow = rng_.OneIn(2) ? DType::kF16 : DType::kBF16;
      const double unit = narrow == DType::kF16 ? 0x1p-10 : 0x1p-7;
      if (x.magnitude() > kLargestTerm) return std::nullopt;
      result.value = x.value.To(narrow);
      if (!x.exact()) result.error += unit * x.magnitude() + 0x1p-24;
      // Rounding may exceed the bounds by half a unit.
      result.low -= unit * x.magnitude();
      result.high += unit * x.magnitude();
      break;
    }
    case 2:
      if (x.magnitude() > kLargestTerm) return std::nullopt;
      result.value = x.value.To(DType::kF32);
      break;
    case 3:
      if (!x.exact()) return std::nullopt;
      result.value = x.value.To(DType::kI32);
      result.low = std::floor(x.low);
      result.high = std::ceil(x.high);
      break;
    default:
      if (!x.exact()) return std::nullopt;
      result = Boolean(x.value.To(DType::kBool));
  }
  if (result.error > kLargestError) return std::nullopt;
  return result;
}

std::optional<Term> TermMaker::Reduction(const Term& x, AxisRef axis, int64_t extent) {
  const auto count = static_cast<double>(extent);
  const DType dtype = x.value.dtype();
  const double sum_error = count * (x.error + RoundingError(x.magnitude()));
  switch (rng_.Below(6)) {
    case 0:
      if (dtype == DType::kBool) return Integer(trace_.Sum(x.value, axis), 0, count);
      if (dtype == DType::kI32) return Integer(trace_.Sum(x.value, axis), count * x.low, count * x.high);
      return Bounded(trace_.Sum(x.value, axis), count * std::min(x.low, 0.0), count * std::max(x.high, 0.0), sum_error);
    case 1:
      if (!x.is_float()) return std::nullopt;
      return Bounded(trace_.Mean(x.value, axis), x.low, x.high, x.error + RoundingError(x.magnitude()) * (count + 1));
    case 2:
    case 3: {
      if (dtype == DType::kBool) return std::nullopt;
      const bool largest = rng_.OneIn(2);
      Term result = x;
      result.value = largest ? trace_.AMax(x.value, axis) : trace_.AMin(x.value, axis);
      return result;
    }
    case 4:
      if (dtype == DType::kI32) return Integer(trace_.Prod(x.value, axis), -kIntegerLimit - 1, kIntegerLimit);
      if (!x.is_float() || x.magnitude() > 1) return std::nullopt;
      return Bounded(trace_.Prod(x.value, axis), -1, 1, sum_error);
    default:
      if (dtype == DType::kBool || !x.exact()) return std::nullopt;
      return Integer(trace_.ArgMax(x.value, axis), 0, count - 1);
  }
}

}  // namespace telemetry::worker::ir
