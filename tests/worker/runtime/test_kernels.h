#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "worker/runtime/kernel.h"

namespace telemetry::worker::runtime {

// Computes out = x + scale * y for vectors.
inline absl::Status AddScaled(ir::Trace& trace) {
  const ir::TensorRef x = trace.Tensor("x");
  const ir::TensorRef y = trace.Tensor("y");
  const ir::TensorRef out = trace.OutputLike("out", x);
  const ir::AxisRef m = trace.Tile(trace.SizeOf(x, 0));
  trace.Store(out, {m}, trace.Load(x, {m}) + trace.Scalar("scale") * trace.Load(y, {m}));
  return absl::OkStatus();
}

// Returns the spec of add_scaled(x, y, scale=1.0), without settings and configs.
inline KernelSpec AddScaledSpec() {
  return {.name = "add_scaled",
          .parameters = {{.name = "x"},
                         {.name = "y"},
                         {.name = "scale", .kind = ParameterKind::kScalar, .default_value = Argument(1.0)}},
          .body = AddScaled};
}

inline std::unique_ptr<Kernel> MakeKernel(KernelSpec spec) {
  absl::StatusOr<std::unique_ptr<Kernel>> kernel = Kernel::Create(std::move(spec));
  EXPECT_TRUE(kernel.ok()) << kernel.status();
  return kernel.ok() ? *std::move(kernel) : nullptr;
}

// Returns the spec with a body that counts its traces.
inline KernelSpec Counted(KernelSpec spec, std::atomic<int>* traces) {
  spec.body = [body = std::move(spec.body), traces](ir::Trace& trace) {
    ++*traces;
    return body(trace);
  };
  return spec;
}

inline codegen::Config Config(const std::string& text) {
  absl::StatusOr<codegen::Config> config = codegen::Config::Parse(text);
  EXPECT_TRUE(config.ok()) << config.status();
  return config.value_or(codegen::Config());
}

}  // namespace telemetry::worker::runtime
