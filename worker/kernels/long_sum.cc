#include <numeric>

#include "worker/kernels/all.h"
#include "worker/kernels/tolerance.h"

namespace telemetry::worker::kernels {
namespace {

using ir::AxisRef;
using ir::TensorRef;

// Computes the same as `sum`. It is a separate kernel to tune because its rows are few and too long to be held at once.
absl::Status Body(ir::Trace& t) {
  const TensorRef x = t.Tensor("x");
  const TensorRef out = t.Output("out", {t.SizeOf(x, 0)}, t.TensorInfo(x).dtype);
  const AxisRef m = t.Tile(t.SizeOf(x, 0));
  const AxisRef n = t.ReductionAxis(t.SizeOf(x, 1));
  t.Store(out, {m}, t.Sum(t.Load(x, {m, n}), n));
  return absl::OkStatus();
}

Outputs Reference(const Case& c) {
  const int64_t rows = c.size("m");
  const int64_t columns = c.size("n");
  ir::HostArray out = ir::HostArray::Dense(c.tensor("x").dtype, {rows});
  for (int64_t i = 0; i < rows; ++i) {
    const double* const row = c.data("x") + i * columns;
    out.data[static_cast<size_t>(i)] = std::accumulate(row, row + columns, 0.0);
  }
  return {{"out", std::move(out)}};
}

}  // namespace

const LibraryKernel& LongSum() {
  static const auto* const kernel = new LibraryKernel{
      .name = "long_sum",
      .summary = "out = sum of x along its few, long rows",
      .tensors = {{"x", {"m", "n"}}},
      .default_sizes = {{"m", 4}, {"n", 130000}},
      .default_dtype = DType::kF32,
      .body = Body,
      .reference = Reference,
      .tolerance = [](const Problem& p, DType output) { return Summed(output, static_cast<double>(p.size("n"))); },
      .flops = [](const Problem& p) { return static_cast<double>(p.size("m") * p.size("n")); },
  };
  return *kernel;
}

}  // namespace telemetry::worker::kernels
