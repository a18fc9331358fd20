#include "tests/bench/bench_tune/tune_cases.h"

namespace telemetry::bench {

const std::vector<TuneCase>& TuneCases() {
  static const auto* const cases = new std::vector<TuneCase>{
      {"softmax", {"x=4096x2560:f16"}, 0.0154},
      {"softmax", {"x=1024x8192:f32"}, 0.0196},
      {"layer_norm", {"x=4096x5120:f16"}, 0.0264},
      {"rms_norm", {"x=2048x4096:f16"}, 0.0115},
      {"long_sum", {"x=4x130000:f32"}, 0.0089},
      {"add", {"x=4096x4096:f16"}, 0.0281},
      {"bmm", {"x=16x512x768:f16", "y=16x768x1024:f16"}, 0.040},
      {"attention", {"q=2x32x1024x64:f16"}, 0.078},
      {"exp", {}},
      {"sum", {}},
      {"softmax_two_pass", {}},
      {"cross_entropy", {}},
      {"matmul", {}},
      {"geglu", {}},
      {.kernel = "matmul", .arguments = {"x=4096x4096:f16", "y=4096x4096:f16"}, .is_large = true},
      {.kernel = "matmul", .arguments = {"x=4096x4096:bf16", "y=4096x4096:bf16"}, .is_large = true},
      {.kernel = "matmul", .arguments = {"x=8192x8192:f16", "y=8192x8192:f16"}, .is_large = true},
      {.kernel = "matmul", .arguments = {"x=8192x8192:bf16", "y=8192x8192:bf16"}, .is_large = true},
      {.kernel = "matmul", .arguments = {"x=16x4096:f16", "y=4096x14336:f16"}, .is_large = true},
      {.kernel = "attention",
       .arguments = {"q=4x16x4096x128:f16", "k=4x16x4096x128:f16", "v=4x16x4096x128:f16"},
       .is_large = true},
      {.kernel = "attention",
       .arguments = {"q=4x16x4096x128:f16", "k=4x16x4096x128:f16", "v=4x16x4096x128:f16", "causal=true"},
       .is_large = true},
      {.kernel = "attention",
       .arguments = {"q=2x16x16384x128:f16", "k=2x16x16384x128:f16", "v=2x16x16384x128:f16"},
       .is_large = true},
      {.kernel = "attention",
       .arguments = {"q=2x16x16384x128:f16", "k=2x16x16384x128:f16", "v=2x16x16384x128:f16", "causal=true"},
       .is_large = true},
      {.kernel = "layer_norm", .arguments = {"x=8192x32768:f16"}, .is_large = true},
      {.kernel = "softmax", .arguments = {"x=8192x32768:f16"}, .is_large = true},
      {.kernel = "softmax", .arguments = {"x=4095x2561:bf16"}, .is_large = true},
      {.kernel = "softmax", .arguments = {"x=7x2561:f16"}, .is_large = true},
      {.kernel = "matmul", .arguments = {"x=1x4097:f16", "y=4097x7:f16"}, .is_large = true},
      {.kernel = "matmul", .arguments = {"x=1021x1023:f16", "y=1023x1019:f16"}, .is_large = true},
  };
  return *cases;
}

}  // namespace telemetry::bench
