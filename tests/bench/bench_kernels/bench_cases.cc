#include "tests/bench/bench_kernels/bench_cases.h"

namespace telemetry::bench {

const std::vector<BenchCase>& BenchCases() {
  static const auto* const cases = new std::vector<BenchCase>{
      {"add", {"x=4096x4096:f16"}, "Config(block_sizes=[1, 1024], num_warps=4)"},
      {"softmax",
       {"x=4096x2560:f16"},
       "Config(block_sizes=[1], load_eviction_policies=['first'], num_warps=4, vector_widths=[4, 4])"},
      {"softmax", {"x=1024x8192:f32"}, "Config(block_sizes=[1], num_warps=8)"},
      {"layer_norm", {"x=4096x5120:f16"}, "Config(block_sizes=[1], num_warps=4, reduction_loops=[None])"},
      {"rms_norm", {"x=2048x4096:f16"}, "Config(block_sizes=[1], num_warps=4, store_eviction_policies=['first', ''])"},
      {"long_sum", {"x=4x130000:f32"}, "Config(block_sizes=[1], num_ctas=8, num_warps=16, reduction_loops=[None])"},
      {"bmm",
       {"x=16x512x768:f16", "y=16x768x1024:f16"},
       "Config(block_sizes=[128, 128, 64], num_warps=8, num_stages=3, l2_groupings=[4])"},
      {"matmul",
       {"x=1024x1024:f16", "y=1024x1024:f16"},
       "Config(block_sizes=[128, 64, 128], num_warps=8, num_stages=3)"},
      {"attention", {"q=2x32x1024x64:f16"}, "Config(block_sizes=[128, 64], num_warps=4, num_stages=2)"},
      {"attention",
       {"q=2x32x1024x64:f16", "causal=true"},
       "Config(block_sizes=[64, 64], loop_orders=[[2, 0, 1]], num_warps=4, num_stages=2)"},
  };
  return *cases;
}

}  // namespace telemetry::bench
