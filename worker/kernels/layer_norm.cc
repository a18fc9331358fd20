#include <cmath>

#include "worker/kernels/all.h"
#include "worker/kernels/tolerance.h"

namespace telemetry::worker::kernels {
namespace {

using ir::AxisRef;
using ir::TensorRef;
using ir::Value;

absl::Status Body(ir::Trace& t) {
  const TensorRef x = t.Tensor("x");
  const TensorRef weight = t.Tensor("weight");
  const TensorRef bias = t.Tensor("bias");
  const TensorRef out = t.OutputLike("out", x);
  const TensorRef mean_out = t.Output("mean", {t.SizeOf(x, 0)}, DType::kF32);
  const TensorRef rstd_out = t.Output("rstd", {t.SizeOf(x, 0)}, DType::kF32);
  const AxisRef m = t.Tile(t.SizeOf(x, 0));
  const AxisRef n = t.ReductionAxis(t.SizeOf(x, 1));
  const Value values = t.Load(x, {m, n}).To(DType::kF32);
  const Value mean = t.Mean(values, n);
  const Value centered = values - mean;
  const Value rstd = rsqrt(t.Mean(centered * centered, n) + t.Scalar("eps"));
  const Value scaled = centered * rstd * t.Load(weight, {n}).To(DType::kF32) + t.Load(bias, {n}).To(DType::kF32);
  t.Store(out, {m, n}, scaled);
  t.Store(mean_out, {m}, mean);
  t.Store(rstd_out, {m}, rstd);
  return absl::OkStatus();
}

Outputs Reference(const Case& c) {
  const int64_t rows = c.size("m");
  const int64_t columns = c.size("n");
  const auto length = static_cast<double>(columns);
  ir::HostArray out = c.tensor("x");
  ir::HostArray means = ir::HostArray::Dense(DType::kF32, {rows});
  ir::HostArray rstds = means;
  for (int64_t i = 0; i < rows; ++i) {
    double* const row = out.data.data() + i * columns;
    double mean = 0;
    for (int64_t j = 0; j < columns; ++j) mean += row[j];
    mean /= length;
    double variance = 0;
    for (int64_t j = 0; j < columns; ++j) variance += (row[j] - mean) * (row[j] - mean);
    const double rstd = 1 / std::sqrt(variance / length + c.number("eps"));
    for (int64_t j = 0; j < columns; ++j) row[j] = (row[j] - mean) * rstd * c.data("weight")[j] + c.data("bias")[j];
    means.data[static_cast<size_t>(i)] = mean;
    rstds.data[static_cast<size_t>(i)] = rstd;
  }
  return {{"out", std::move(out)}, {"mean", std::move(means)}, {"rstd", std::move(rstds)}};
}

}  // namespace

const LibraryKernel& LayerNorm() {
  static const auto* const kernel = new LibraryKernel{
      .name = "layer_norm",
      .summary = "out = (x - mean) * rstd * weight + bias along rows; mean and rstd = 1 / sqrt(variance + eps), f32",
      .tensors = {{"x", {"m", "n"}}, {"weight", {"n"}}, {"bias", {"n"}}},
      .numbers = {{"eps", 1e-5}},
      .default_sizes = {{"m", 4096}, {"n", 5120}},
      .default_dtype = DType::kF16,
      // Not symmetric around 0, so that omitting the mean changes the results.
      .low = -1,
      .high = 3,
      .body = Body,
      .reference = Reference,
      // The mean's error (2^-24 of 3) is multiplied by rstd, at most 1 / sqrt(eps).
      .tolerance = [](const Problem&, DType output) { return Rounded(output, 1e-5); },
      .flops = [](const Problem& p) { return 8.0 * static_cast<double>(p.size("m") * p.size("n")); },
  };
  return *kernel;
}

}  // namespace telemetry::worker::kernels
