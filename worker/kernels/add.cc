#include "worker/kernels/all.h"
#include "worker/kernels/tolerance.h"

namespace telemetry::worker::kernels {
namespace {

using ir::AxisRef;
using ir::TensorRef;

absl::Status Body(ir::Trace& t) {
  const TensorRef x = t.Tensor("x");
  const TensorRef y = t.Tensor("y");
  const TensorRef out = t.OutputLike("out", x);
  const AxisRef m = t.Tile(t.SizeOf(x, 0));
  const AxisRef n = t.Tile(t.SizeOf(x, 1));
  t.Store(out, {m, n}, t.Load(x, {m, n}) + t.Load(y, {m, n}));
  return absl::OkStatus();
}

Outputs Reference(const Case& c) {
  ir::HostArray out = c.tensor("x");
  for (size_t i = 0; i < out.data.size(); ++i) out.data[i] += c.data("y")[i];
  return {{"out", std::move(out)}};
}

}  // namespace

const LibraryKernel& Add() {
  static const auto* const kernel = new LibraryKernel{
      .name = "add",
      .summary = "out = x + y",
      .tensors = {{"x", {"m", "n"}}, {"y", {"m", "n"}}},
      .default_sizes = {{"m", 4096}, {"n", 4096}},
      .default_dtype = DType::kF16,
      .dtypes = {DType::kF32, DType::kF16, DType::kBF16, DType::kI32},
      .body = Body,
      .reference = Reference,
      .tolerance = [](const Problem&, DType output) { return Rounded(output); },
      .flops = [](const Problem& p) { return static_cast<double>(p.size("m") * p.size("n")); },
  };
  return *kernel;
}

}  // namespace telemetry::worker::kernels
