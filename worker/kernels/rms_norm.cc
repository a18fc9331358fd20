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
  const TensorRef out = t.OutputLike("out", x);
  const TensorRef inv_rms_out = t.Output("inv_rms", {t.SizeOf(x, 0)}, DType::kF32);
  const AxisRef m = t.Tile(t.SizeOf(x, 0));
  const AxisRef n = t.ReductionAxis(t.SizeOf(x, 1));
  const Value values = t.Load(x, {m, n}).To(DType::kF32);
  // Loaded here so that the load overlaps the sum of squares.
  const Value weights = t.Load(weight, {n}).To(DType::kF32);
  const Value inv_rms = rsqrt(t.Mean(values * values, n) + t.Scalar("eps"));
  t.Store(out, {m, n}, values * inv_rms * weights);
  t.Store(inv_rms_out, {m}, inv_rms);
  return absl::OkStatus();
}

Outputs Reference(const Case& c) {
  const int64_t rows = c.size("m");
  const int64_t columns = c.size("n");
  ir::HostArray out = c.tensor("x");
  ir::HostArray inverses = ir::HostArray::Dense(DType::kF32, {rows});
  for (int64_t i = 0; i < rows; ++i) {
    double* const row = out.data.data() + i * columns;
    double squares = 0;
    for (int64_t j = 0; j < columns; ++j) squares += row[j] * row[j];
    const double inv_rms = 1 / std::sqrt(squares / static_cast<double>(columns) + c.number("eps"));
    for (int64_t j = 0; j < columns; ++j) row[j] *= inv_rms * c.data("weight")[j];
    inverses.data[static_cast<size_t>(i)] = inv_rms;
  }
  return {{"out", std::move(out)}, {"inv_rms", std::move(inverses)}};
}

}  // namespace

const LibraryKernel& RmsNorm() {
  static const auto* const kernel = new LibraryKernel{
      .name = "rms_norm",
      .summary = "out = x * inv_rms * weight along rows; inv_rms = 1 / sqrt(mean of squares + eps), f32",
      .tensors = {{"x", {"m", "n"}}, {"weight", {"n"}}},
      .numbers = {{"eps", 1e-5}},
      .default_sizes = {{"m", 2048}, {"n", 4096}},
      .default_dtype = DType::kF16,
      .body = Body,
      .reference = Reference,
      // There are only products and a sum of terms of the same sign, so nothing cancels.
      .tolerance = [](const Problem&, DType output) { return Rounded(output); },
      .flops = [](const Problem& p) { return 4.0 * static_cast<double>(p.size("m") * p.size("n")); },
  };
  return *kernel;
}

}  // namespace telemetry::worker::kernels
