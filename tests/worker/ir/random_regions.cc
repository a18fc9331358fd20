#include "tests/worker/ir/random_regions.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "tests/worker/ir/random_inputs.h"

namespace telemetry::worker::ir {

using device::DType;

Term RegionMaker::Tile(Value value) const {
  const bool is_integer = value.dtype() == DType::kI32;
  const double bound = is_integer ? static_cast<double>(kLargestIntegerInput) : kLargestInput;
  return {.value = value, .low = -bound, .high = bound};
}

Term RegionMaker::Computed(const Term& tile, int axis, Terms pool) {
  Term result = tile;
  pool.push_back(tile);
  for (int64_t step = rng_.Below(4); step > 0; --step) {
    const std::optional<Term> term = terms_.Pointwise(pool);
    if (!term.has_value()) continue;
    pool.push_back(*term);
    if (term->HasAxis(axis) && term->is_float()) result = *term;
  }
  return result;
}

Terms RegionMaker::Accumulate(const LoopInput& input, const std::vector<AxisRef>& axes, const Terms& pool) {
  const auto count = static_cast<double>(input.extent.value);
  Term added;
  const Trace::Carried initial = {trace_.Full(axes, 0, DType::kF32), trace_.Full(axes, -1, DType::kF32),
                                  trace_.Full({}, 0, DType::kI32)};
  const Trace::Carried results =
      trace_.For(input.extent, initial, [&](AxisRef axis, const Trace::Carried& carried) -> Trace::Carried {
        added = Computed(Tile(input.load(axis)), axis.id, pool);
        const Value begin = trace_.TileBegin(axis);
        const Value scaled = added.value.To(DType::kF32) * (1 / count);
        return {carried[0] + trace_.Sum(scaled, axis), maximum(carried[1], trace_.AMax(added.value, axis)),
                carried[2] + (trace_.TileEnd(axis) - begin)};
      });
  const double error = added.error + (count + 2) * RoundingError(added.magnitude());
  Terms terms = {
      {.value = results[1], .low = std::max(added.low, -1.0), .high = std::max(added.high, -1.0), .error = added.error},
      {.value = results[2], .low = count, .high = count}};
  if (const std::optional<Term> mean = Bounded(results[0], added.low, added.high, error); mean.has_value()) {
    terms.push_back(*mean);
  }
  return terms;
}

std::optional<Term> RegionMaker::OnlineSum(const LoopInput& input, const std::vector<AxisRef>& axes) {
  const auto count = static_cast<double>(input.extent.value);
  constexpr double kNothing = -std::numeric_limits<double>::infinity();
  const Trace::Carried initial = {trace_.Full(axes, kNothing, DType::kF32), trace_.Full(axes, 0, DType::kF32)};
  const Trace::Carried results =
      trace_.For(input.extent, initial, [&](AxisRef axis, const Trace::Carried& carried) -> Trace::Carried {
        const Value x = input.load(axis).To(DType::kF32);
        const Value largest = maximum(carried[0], trace_.AMax(x, axis));
        const Value sum = trace_.Sum(exp(x - largest), axis);
        return {largest, carried[1] * exp(carried[0] - largest) + sum};
      });
  return Bounded(results[1] * (1 / count), 0, 1, (2 * count + 16) * RoundingError(16));
}

std::optional<Term> RegionMaker::DotProduct(const LoopInput& a, const LoopInput& b, const std::vector<AxisRef>& axes) {
  const Trace::Carried results = trace_.For(a.extent, {trace_.Full(axes, 0, DType::kF32)},
                                            [&](AxisRef axis, const Trace::Carried& carried) -> Trace::Carried {
                                              const Value left = a.load(axis);
                                              const Value right = b.load(axis);
                                              return {trace_.Dot(left, right, axis, carried[0])};
                                            });
  return ScaledDot(results[0], a.extent.value);
}

std::optional<Term> RegionMaker::ScaledDot(const Value& dot, int64_t count) {
  const auto terms = static_cast<double>(count);
  return Bounded(dot * (1 / (terms * kLargestInput * kLargestInput)), -1, 1, (terms + 2) * RoundingError(1));
}

Term RegionMaker::Simple(const Term& x) {
  switch (rng_.Below(3)) {
    case 0:
      return {x.value * 0.5, -x.magnitude(), x.magnitude(), x.error + RoundingError(x.magnitude())};
    case 1:
      return {tanh(x.value), -1, 1, x.error + RoundingError(1)};
    default:
      return {abs(x.value), 0, x.magnitude(), x.error};
  }
}

std::optional<Term> RegionMaker::Branch(const Term& x, Value condition) {
  if (!x.is_float()) return std::nullopt;
  Term then;
  Term otherwise;
  const Trace::Carried results = trace_.If(
      condition,
      [&]() -> Trace::Carried {
        then = Simple(x);
        return {then.value};
      },
      [&]() -> Trace::Carried {
        otherwise = Simple(x);
        return {otherwise.value};
      });
  // The result of a branch may be converted, but never to a narrower dtype.
  return Bounded(results[0], std::min(then.low, otherwise.low), std::max(then.high, otherwise.high),
                 std::max(then.error, otherwise.error));
}

std::optional<Term> RegionMaker::Repeat(const Term& x) {
  if (!x.is_float()) return std::nullopt;
  const int64_t times = rng_.Below(4);
  const double bound = std::max(x.magnitude(), 0.5);
  const Trace::Carried results = trace_.While(
      {trace_.Full({}, 0, DType::kI32), x.value.To(DType::kF32)},
      [&](const Trace::Carried& carried) { return carried[0] < static_cast<int>(times); },
      [&](const Trace::Carried& carried) -> Trace::Carried {
        return {carried[0] + 1, carried[1] * 0.5 + 0.25};
      });
  return Bounded(results[1], -bound, bound, x.error + 4 * RoundingError(bound));
}

std::optional<Term> RegionMaker::Helper(const Term& x, const Term& y) {
  if (!x.is_float() || !y.is_float()) return std::nullopt;
  const Value result = trace_.Call("gated", {x.value.To(DType::kF32), y.value.To(DType::kF32)},
                                   [](const std::vector<Value>& values) { return sigmoid(values[0]) * values[1]; });
  return Bounded(result, -y.magnitude(), y.magnitude(),
                 y.error + (x.error + RoundingError(1)) * y.magnitude() + RoundingError(y.magnitude()));
}

}  // namespace telemetry::worker::ir
