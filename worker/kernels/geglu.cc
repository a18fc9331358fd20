#include <cmath>
#include <numbers>

#include "worker/kernels/all.h"
#include "worker/kernels/tolerance.h"

namespace telemetry::worker::kernels {
namespace {

using ir::AxisRef;
using ir::TensorRef;
using ir::Value;

// GELU's tanh approximation: 0.5 a (1 + tanh(sqrt(2 / pi) (a + 0.044715 a^3))).
constexpr double kSqrt2OverPi = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
constexpr double kCubic = 0.044715;

absl::Status Body(ir::Trace& t) {
  const TensorRef a = t.Tensor("a");
  const TensorRef b = t.Tensor("b");
  const TensorRef out = t.OutputLike("out", a);
  const AxisRef m = t.Tile(t.SizeOf(a, 0));
  const AxisRef n = t.Tile(t.SizeOf(a, 1));
  const Value x = t.Load(a, {m, n}).To(DType::kF32);
  const Value gelu = 0.5 * x * (1.0 + tanh(kSqrt2OverPi * (x + kCubic * x * x * x)));
  t.Store(out, {m, n}, gelu * t.Load(b, {m, n}).To(DType::kF32));
  return absl::OkStatus();
}

Outputs Reference(const Case& c) {
  ir::HostArray out = c.tensor("a");
  for (size_t i = 0; i < out.data.size(); ++i) {
    const double x = out.data[i];
    out.data[i] = 0.5 * x * (1 + std::tanh(kSqrt2OverPi * (x + kCubic * std::pow(x, 3)))) * c.data("b")[i];
  }
  return {{"out", std::move(out)}};
}

}  // namespace

const LibraryKernel& Geglu() {
  static const auto* const kernel = new LibraryKernel{
      .name = "geglu",
      .summary = "out = gelu(a) * b, gelu with its tanh approximation",
      .tensors = {{"a", {"m", "n"}}, {"b", {"m", "n"}}},
      .default_sizes = {{"m", 4096}, {"n", 4096}},
      .default_dtype = DType::kF16,
      .low = -4,
      .high = 4,
      .body = Body,
      .reference = Reference,
      // 1 + tanh cancels where tanh is near -1: an error of units of 2^-24, times 4 * 4.
      .tolerance = [](const Problem&, DType output) { return Rounded(output, 1e-5); },
      .flops = [](const Problem& p) { return 10.0 * static_cast<double>(p.size("m") * p.size("n")); },
  };
  return *kernel;
}

}  // namespace telemetry::worker::kernels
