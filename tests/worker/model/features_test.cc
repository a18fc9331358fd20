#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>

#include "proto/record/json.h"
#include "tests/worker/model/h200_run.h"
#include "tests/worker/model/model_text.h"
#include "worker/model/device_record.h"
#include "worker/model/run_features.h"

namespace telemetry::worker::model {
namespace {

codegen::Config ConfigOf(const std::string& text) { return codegen::Config::Parse(text).value(); }

float Value(const std::vector<float>& features, std::string_view name) {
  const size_t index = FeatureIndex(name);
  EXPECT_LT(index, features.size()) << name;
  return index < features.size() ? features[index] : -1;
}

TEST(FeaturesTest, NamesAreDistinctAndAsManyAsValues) {
  const std::vector<std::string>& names = FeatureNames();
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
  const RunFeatures library(SoftmaxRun(), H200());
  EXPECT_EQ(library.Of(ConfigOf("Config(num_warps=4)")).size(), names.size());
  EXPECT_EQ(RunFeatures(v1::Run(), std::nullopt).Of(ConfigOf("Config()")).size(), names.size());
}

TEST(FeaturesTest, ALibraryKernelHasWhatItsCodeTells) {
  const RunFeatures run(SoftmaxRun(), H200());
  const std::vector<float> features = run.Of(ConfigOf("Config(block_sizes=[4], num_warps=8)"));
  EXPECT_EQ(Value(features, "inputs[0].size[-1]"), 2560);
  EXPECT_EQ(Value(features, "inputs.element_bytes"), 2);
  EXPECT_EQ(Value(features, "device.compute_units"), 132);
  EXPECT_EQ(Value(features, "device.sm"), 90);
  EXPECT_EQ(Value(features, "work.bytes"), 2 * 4096 * 2560 * 2);
  EXPECT_GE(Value(features, "graph.transcendental"), 1);
  EXPECT_EQ(Value(features, "graph.reductions"), 2);
  EXPECT_EQ(Value(features, "launch.threads"), 256);
  EXPECT_EQ(Value(features, "launch.tiles"), 1024);
  EXPECT_EQ(Value(features, "launch.blocks"), 1024);
  EXPECT_EQ(Value(features, "launch.elements_per_thread"), 4 * 2560 / 256);
  EXPECT_FLOAT_EQ(Value(features, "launch.waves"), 1024.0F / (132 * 8));
  const std::vector<float> other = run.Of(ConfigOf("Config(block_sizes=[8], num_warps=4)"));
  EXPECT_EQ(Value(other, "launch.tiles"), 512);
  EXPECT_EQ(Value(other, "launch.threads"), 128);
}

TEST(FeaturesTest, AKernelOfASpecificationHasItsParameters) {
  v1::Run run;
  run.set_kernel_name("convolution");
  run.set_input_shapes("[(4096, 4096), (81,)]");
  run.set_dtypes("['torch.float32', 'torch.float32']");
  const std::vector<float> features =
      RunFeatures(run, std::nullopt)
          .Of(ConfigOf("Config(block_size_x=32, block_size_y=4, tile_size_x=2, use_shared=1, zeta='b', alpha=7)"));
  EXPECT_EQ(Value(features, "block_size.product"), 128);
  EXPECT_EQ(Value(features, "block_and_tile_size.product"), 256);
  EXPECT_EQ(Value(features, "use_shared"), 1);
  EXPECT_EQ(Value(features, "other[0]"), 7) << "alpha comes before zeta";
  EXPECT_FALSE(std::isnan(Value(features, "other[1]")));
  EXPECT_TRUE(std::isnan(Value(features, "other[2]")));
  EXPECT_EQ(Value(features, "inputs.bytes"), 4 * (4096 * 4096 + 81));
  EXPECT_TRUE(std::isnan(Value(features, "launch.threads")));
  EXPECT_TRUE(std::isnan(Value(features, "device.sm")));
}

TEST(FeaturesTest, ConfigsWithoutCodeAndWithNullsHaveFeatures) {
  const RunFeatures run(SoftmaxRun(), H200());
  EXPECT_TRUE(std::isnan(Value(run.Of(ConfigOf("Config(num_warps=3)")), "launch.threads")));
  // Replay adds null for keys that a stored config does not have.
  const std::vector<float> with_null = run.Of(ConfigOf("Config(num_warps=4, maxnreg=None)"));
  EXPECT_EQ(Value(with_null, "launch.threads"), 128);
}

// Training knows a device only from the environment of attempts.
TEST(FeaturesTest, TheDeviceOfARecordGivesTheSameFeatures) {
  const std::string environment =
      R"({"device": {"name": "NVIDIA H200", "architecture": "sm_90", "compute_units": 132, "global_bytes": 150109880320,
          "l2_bytes": 62914560, "clock_khz": 1980000, "memory_clock_khz": 3201000, "memory_bus_bits": 6016}})";
  const std::optional<device::DeviceProperties> recorded = ReadDevice(environment);
  ASSERT_TRUE(recorded.has_value());
  const codegen::Config config = ConfigOf("Config(block_sizes=[4], num_warps=8, pid_type='persistent_blocked')");
  const std::vector<float> live = RunFeatures(SoftmaxRun(), H200()).Of(config);
  const std::vector<float> stored = RunFeatures(SoftmaxRun(), recorded).Of(config);
  ASSERT_EQ(live.size(), stored.size());
  for (size_t i = 0; i < live.size(); ++i) {
    EXPECT_TRUE(live[i] == stored[i] || (std::isnan(live[i]) && std::isnan(stored[i]))) << FeatureNames()[i];
  }
  EXPECT_FALSE(ReadDevice("").has_value());
  EXPECT_FALSE(ReadDevice("{}").has_value());
}

TEST(FeaturesTest, CountsTheOperationsOfAHelionGraph) {
  v1::IrGraph graph;
  const auto add = [&](std::string_view target, std::string_view lowering, int64_t region) {
    v1::IrNode& node = *graph.add_nodes();
    node.set_target(std::string(target));
    node.set_lowering_class(std::string(lowering));
    node.set_graph_id(region);
  };
  add("helion.language.memory_ops.load", "APIFuncLowering", 0);
  add("torch._ops.aten.aten::exp", "PointwiseLowering", 0);
  add("torch._ops.aten.aten::sub.Tensor", "PointwiseLowering", 1);
  add("torch._ops.aten.aten::amax", "ReductionLowering", 1);
  add("helion.language.matmul_ops.dot", "APIFuncLowering", 1);
  add("helion.language.memory_ops.store", "APIFuncLowering", 1);
  const GraphCounts counts = CountOperations(graph);
  EXPECT_EQ(counts.nodes, 6);
  EXPECT_EQ(counts.regions, 2);
  EXPECT_EQ(counts.loads, 1);
  EXPECT_EQ(counts.stores, 1);
  EXPECT_EQ(counts.pointwise, 2);
  EXPECT_EQ(counts.transcendental, 1);
  EXPECT_EQ(counts.reductions, 1);
  EXPECT_EQ(counts.dots, 1);
}

}  // namespace
}  // namespace telemetry::worker::model
