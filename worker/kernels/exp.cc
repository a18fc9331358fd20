#include <cmath>

#include "worker/kernels/all.h"
#include "worker/kernels/tolerance.h"

namespace telemetry::worker::kernels {
namespace {

using ir::AxisRef;
using ir::TensorRef;

absl::Status Body(ir::Trace& t) {
  const TensorRef x = t.Tensor("x");
  const TensorRef out = t.OutputLike("out", x);
  const AxisRef m = t.Tile(t.SizeOf(x, 0));
  const AxisRef n = t.Tile(t.SizeOf(x, 1));
  t.Store(out, {m, n}, exp(t.Load(x, {m, n})));
  return absl::OkStatus();
}

Outputs Reference(const Case& c) {
  ir::HostArray out = c.tensor("x");
  for (double& value : out.data) value = std::exp(value);
  return {{"out", std::move(out)}};
}

}  // namespace

const LibraryKernel& Exp() {
  static const auto* const kernel = new LibraryKernel{
      .name = "exp",
      .summary = "out = exp(x)",
      .tensors = {{"x", {"m", "n"}}},
      .default_sizes = {{"m", 4096}, {"n", 4096}},
      .default_dtype = DType::kF16,
      .low = -8,
      .high = 8,
      .body = Body,
      .reference = Reference,
      .tolerance = [](const Problem&, DType output) { return Rounded(output); },
      .flops = [](const Problem& p) { return static_cast<double>(p.size("m") * p.size("n")); },
  };
  return *kernel;
}

}  // namespace telemetry::worker::kernels
