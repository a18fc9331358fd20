#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "worker/kernels/all.h"
#include "worker/kernels/tolerance.h"

namespace telemetry::worker::kernels {
namespace {

using ir::AxisRef;
using ir::TensorRef;
using ir::Trace;
using ir::Value;

constexpr double kLowest = -std::numeric_limits<double>::infinity();

// Computes an online softmax over tiles of keys. Carries each query's maximum product, the sum of its weights, and the
// weighted sum of values; rescales both sums whenever the maximum grows. A score is a product times `scale`, in units
// of log2, because devices have an instruction for exp2. The maximum is that of the products, so that the scaling and
// the subtraction of the maximum are one multiply-add.
absl::Status Body(Trace& t) {
  const TensorRef q = t.Tensor("q");
  const TensorRef k = t.Tensor("k");
  const TensorRef v = t.Tensor("v");
  const TensorRef out = t.OutputLike("out", q);
  const DType dtype = t.TensorInfo(q).dtype;
  const bool causal = t.Constexpr<bool>("causal");
  if (causal && t.Specialize(t.SizeOf(q, 2)) != t.Specialize(t.SizeOf(k, 2))) {
    return absl::InvalidArgumentError("causal attention needs as many keys as queries");
  }
  const AxisRef b = t.Tile(t.SizeOf(q, 0), /*fixed_block=*/1);
  const AxisRef h = t.Tile(t.SizeOf(q, 1), /*fixed_block=*/1);
  const AxisRef m = t.Tile(t.SizeOf(q, 2));
  // Specialised, so that the axis is always held at once: the sums over it are the scores, which the softmax needs
  // complete.
  const int64_t depth = t.Specialize(t.SizeOf(q, 3));
  const AxisRef d = t.ReductionAxis({.text = std::to_string(depth), .value = depth});
  const double scale = std::numbers::log2e / std::sqrt(static_cast<double>(depth));

  const Value queries = t.Load(q, {b, h, m, d});
  const Trace::Carried nothing = {t.Full({b, h, m}, kLowest, DType::kF32), t.Full({b, h, m}, 0, DType::kF32),
                                  t.Full({b, h, m, d}, 0, DType::kF32)};
  const auto add_keys = [&](AxisRef n, const Trace::Carried& so_far) -> Trace::Carried {
    Value products = t.Dot(queries, t.Load(k, {b, h, n, d}), d);
    if (causal) products = t.Where(t.Index(n) <= t.Index(m), products, kLowest);
    const Value max = maximum(so_far[0], t.AMax(products, n));
    const Value highest_score = scale * max;
    const Value weights = exp2(scale * products - highest_score);
    const Value shrink = exp2(scale * so_far[0] - highest_score);
    const Value sum = so_far[1] * shrink + t.Sum(weights, n);
    return {max, sum, t.Dot(weights.To(dtype), t.Load(v, {b, h, n, d}), n, so_far[2] * shrink)};
  };
  // Keys after a tile's last query have no weight in the tile.
  const Trace::ForOptions keys = {.end = causal ? t.TileEnd(m) : Value()};
  const Trace::Carried sums = t.For(t.SizeOf(k, 2), nothing, add_keys, keys);
  t.Store(out, {b, h, m, d}, sums[2] / sums[1]);
  return absl::OkStatus();
}

// Computes the weights of one query over `n` keys of `d` elements, and the weighted mean of the values.
void Attend(const double* query, const double* keys, const double* values, int64_t n, int64_t d, double* out) {
  std::vector<double> weights(static_cast<size_t>(n));
  double max = kLowest;
  for (int64_t j = 0; j < n; ++j) {
    double score = 0;
    for (int64_t i = 0; i < d; ++i) score += query[i] * keys[j * d + i];
    weights[static_cast<size_t>(j)] = score / std::sqrt(static_cast<double>(d));
    max = std::max(max, weights[static_cast<size_t>(j)]);
  }
  double sum = 0;
  for (double& weight : weights) sum += weight = std::exp(weight - max);
  for (int64_t i = 0; i < d; ++i) out[i] = n == 0 ? std::numeric_limits<double>::quiet_NaN() : 0;
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = 0; i < d; ++i) out[i] += weights[static_cast<size_t>(j)] / sum * values[j * d + i];
  }
}

Outputs Reference(const Case& c) {
  const int64_t heads = c.size("b") * c.size("h");
  const int64_t queries = c.size("m");
  const int64_t keys = c.size("n");
  const int64_t d = c.size("d");
  ir::HostArray out = c.tensor("q");
  for (int64_t head = 0; head < heads; ++head) {
    for (int64_t i = 0; i < queries; ++i) {
      const int64_t row = (head * queries + i) * d;
      Attend(c.data("q") + row, c.data("k") + head * keys * d, c.data("v") + head * keys * d,
             c.number("causal") != 0 ? i + 1 : keys, d, out.data.data() + row);
    }
  }
  return {{"out", std::move(out)}};
}

// Returns the tolerance. The weights are rounded to the dtype before the second product: an error of half a unit for
// each, of weights that sum to 1, times values of magnitude 2.
ir::Tolerance ToleranceOf(const Problem& /*problem*/, DType output) {
  const ir::Tolerance rounded = Rounded(output, 1e-5);
  return {.absolute = output == DType::kF32 ? rounded.absolute : rounded.relative, .relative = rounded.relative};
}

double Flops(const Problem& p) {
  const double pairs = static_cast<double>(p.size("m") * p.size("n")) * (p.number("causal") != 0 ? 0.5 : 1);
  return 4.0 * pairs * static_cast<double>(p.size("b") * p.size("h") * p.size("d"));
}

}  // namespace

const LibraryKernel& Attention() {
  static const auto* const kernel = new LibraryKernel{
      .name = "attention",
      .summary = "out = softmax(q @ k^T / sqrt(d)) @ v; causal: a query uses the keys up to its own",
      .tensors = {{"q", {"b", "h", "m", "d"}}, {"k", {"b", "h", "n", "d"}}, {"v", {"b", "h", "n", "d"}}},
      .numbers = {{.name = "causal", .is_flag = true}},
      .default_sizes = {{"b", 2}, {"h", 32}, {"m", 1024}, {"n", 1024}, {"d", 64}},
      .default_dtype = DType::kF16,
      // Wide enough that some weights are much larger than others.
      .low = -2,
      .high = 2,
      .body = Body,
      .reference = Reference,
      .tolerance = ToleranceOf,
      .flops = Flops,
  };
  return *kernel;
}

}  // namespace telemetry::worker::kernels
