#include <algorithm>
#include <cmath>

#include "worker/kernels/all.h"
#include "worker/kernels/tolerance.h"

namespace telemetry::worker::kernels {
namespace {

using ir::AxisRef;
using ir::TensorRef;
using ir::Value;

absl::Status Body(ir::Trace& t) {
  const TensorRef logits = t.Tensor("logits");
  const TensorRef labels = t.Tensor("labels");
  const TensorRef losses = t.Output("losses", {t.SizeOf(logits, 0)}, DType::kF32);
  const AxisRef n = t.Tile(t.SizeOf(logits, 0));
  const AxisRef v = t.ReductionAxis(t.SizeOf(logits, 1));
  const Value label = t.Load(labels, {n});
  const Value at_label = t.Load(logits, {n, label}).To(DType::kF32);
  const Value row = t.Load(logits, {n, v}).To(DType::kF32);
  const Value max = t.AMax(row, v);
  t.Store(losses, {n}, max + log(t.Sum(exp(row - max), v)) - at_label);
  return absl::OkStatus();
}

Outputs Reference(const Case& c) {
  const int64_t rows = c.size("n");
  const int64_t classes = c.size("v");
  ir::HostArray losses = ir::HostArray::Dense(DType::kF32, {rows});
  for (int64_t i = 0; i < rows; ++i) {
    const double* const row = c.data("logits") + i * classes;
    const double max = *std::max_element(row, row + classes);
    double sum = 0;
    for (int64_t j = 0; j < classes; ++j) sum += std::exp(row[j] - max);
    const auto label = static_cast<int64_t>(c.data("labels")[i]);
    losses.data[static_cast<size_t>(i)] = std::log(sum) - (row[label] - max);
  }
  return {{"losses", std::move(losses)}};
}

}  // namespace

const LibraryKernel& CrossEntropy() {
  static const auto* const kernel = new LibraryKernel{
      .name = "cross_entropy",
      .summary = "losses = -log softmax(logits)[labels], f32, one per row; labels out of range read other memory",
      .tensors = {{"logits", {"n", "v"}}, {"labels", {"n"}, DType::kI32, "v"}},
      .default_sizes = {{"n", 4096}, {"v", 16384}},
      .default_dtype = DType::kF16,
      .low = -4,
      .high = 4,
      .body = Body,
      .reference = Reference,
      // The loss is near 0 for a row whose label dominates, but it is computed from terms near 10.
      .tolerance = [](const Problem&, DType output) { return Rounded(output, 1e-5); },
      .flops = [](const Problem& p) { return 4.0 * static_cast<double>(p.size("n") * p.size("v")); },
  };
  return *kernel;
}

}  // namespace telemetry::worker::kernels
