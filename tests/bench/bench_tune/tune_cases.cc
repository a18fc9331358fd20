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
  };
  return *cases;
}

}  // namespace telemetry::bench
