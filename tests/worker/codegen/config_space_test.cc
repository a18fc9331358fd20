#include "worker/codegen/config_space.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/record/strings.h"
#include "tests/worker/codegen/kernel_case.h"
#include "worker/codegen/emit/generate.h"

namespace telemetry::worker::codegen {
namespace {

using device::DType;
using ir::AxisRef;
using ir::TensorRef;
using testing::HasSubstr;

// Returns a kernel that sums each row of an m x n tensor.
KernelCase Rows(int64_t m, int64_t n) {
  KernelCase kernel;
  kernel.Input("x", DType::kF32, {m, n}).Trace([](ir::Trace& t) {
    const TensorRef x = t.Tensor("x");
    const AxisRef m = t.Tile(t.SizeOf(x, 0));
    const AxisRef n = t.ReductionAxis(t.SizeOf(x, 1));
    t.Store(t.Output("sums", {t.SizeOf(x, 0)}, DType::kF32), {m}, t.Sum(t.Load(x, {m, n}), n));
  });
  return kernel;
}

std::string Refusal(const KernelCase& kernel, const std::string& config) {
  const absl::StatusOr<Config> parsed = Config::Parse(config);
  if (!parsed.ok()) return record::Cat("not parsed: ", parsed.status().ToString());
  return ConfigSpaceFor(kernel.ir()).Normalize(*parsed).status().ToString();
}

TEST(Config, ReadsWhatItPrints) {
  const absl::StatusOr<Config> config = Config::Parse("helion.Config(num_warps=8, block_sizes=[32, 16])");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->ToString(), "Config(block_sizes=[32, 16], num_warps=8)");
  const absl::StatusOr<Config> again = Config::Parse(config->ToString());
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->id(), config->id());
  const absl::StatusOr<Config> json = Config::Parse(R"({"num_warps": 8, "block_sizes": [32, 16]})");
  ASSERT_TRUE(json.ok()) << json.status();
  EXPECT_EQ(*json, *config);
}

TEST(ConfigSpace, CompletesWhatAConfigLeavesOut) {
  const KernelCase kernel = Rows(64, 100);
  EXPECT_EQ(kernel.With("Config()").ToString(), ConfigSpaceFor(kernel.ir()).Default().ToString());
  EXPECT_THAT(kernel.With("Config(num_warps=2)").ToString(), HasSubstr("num_warps=2"));
}

TEST(ConfigSpace, NamesTheKeyAndWhatIsAllowed) {
  const KernelCase kernel = Rows(64, 100);
  EXPECT_THAT(Refusal(kernel, "Config(num_wraps=4)"), HasSubstr("no config key 'num_wraps'; it has block_sizes, "));
  EXPECT_THAT(Refusal(kernel, "Config(num_warps=3)"),
              HasSubstr("num_warps=3 is not allowed; expected a power of two from 1 to 32"));
  EXPECT_THAT(Refusal(kernel, "Config(block_sizes=[8, 8])"),
              HasSubstr("block_sizes=[8, 8] is not allowed; expected a list of 1"));
  EXPECT_THAT(Refusal(kernel, "Config(block_sizes=8)"), HasSubstr("a list of 1"));
  EXPECT_THAT(Refusal(kernel, "Config(block_sizes=[128])"), HasSubstr("block_sizes[0]=128 is not allowed"));
  EXPECT_THAT(Refusal(kernel, "Config(reduction_loops=[24])"), HasSubstr("reduction_loops[0]=24"));
  EXPECT_THAT(Refusal(kernel, "Config(pid_type='xyz')"),
              HasSubstr("one of 'flat', 'persistent_blocked', 'persistent_interleaved'"));
  EXPECT_THAT(Refusal(kernel, "Config(load_eviction_policies=['never'])"),
              HasSubstr("load_eviction_policies[0]='never'"));
}

TEST(ConfigSpace, EveryDefaultIsAllowed) {
  for (const int64_t n : {0, 1, 100, 130'000}) {
    const ConfigSpace space = ConfigSpaceFor(Rows(4, n).ir());
    const absl::StatusOr<Config> complete = space.Normalize(space.Default());
    ASSERT_TRUE(complete.ok()) << complete.status();
    EXPECT_EQ(complete->ToString(), space.Default().ToString());
  }
}

TEST(Generate, SaysWhatDoesNotFit) {
  const KernelCase kernel = Rows(64, 8192);
  const absl::StatusOr<GeneratedKernel> generated =
      emit::Generate(kernel.ir(), kernel.With("Config(block_sizes=[64], num_warps=1)"), {});
  EXPECT_EQ(generated.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(generated.status().ToString(), HasSubstr("u1=8192"));
  EXPECT_EQ(
      emit::Generate(kernel.ir(), kernel.With("Config(num_warps=32)"), {.max_threads_per_block = 256}).status().code(),
      absl::StatusCode::kResourceExhausted);
}

// Such code is generated, because a kernel may have no other, but a search leaves it out.
TEST(Generate, SaysWhetherAValueHasMoreElementsThanAThreadHasRegisters) {
  const KernelCase kernel = Rows(64, 8192);
  const auto spills = [&kernel](const std::string& config, const Target& target) {
    return emit::Generate(kernel.ir(), kernel.With(config), target).value().spills;
  };
  const Target cuda = {.dialect = device::Dialect::kCuda, .sm = 90, .shared_bytes_per_block = 227 << 10};
  EXPECT_TRUE(spills("Config(block_sizes=[1], num_warps=1)", cuda));
  EXPECT_FALSE(spills("Config(block_sizes=[1], num_warps=2)", cuda));
  // 1024 threads share the 65,536 registers of a multiprocessor.
  EXPECT_TRUE(spills("Config(block_sizes=[8], num_warps=32)", cuda));
  EXPECT_FALSE(spills("Config(block_sizes=[4], num_warps=32)", cuda));
  EXPECT_FALSE(spills("Config(block_sizes=[1], num_warps=1)", Target()));
}

TEST(Generate, GivesTheSameTextAgain) {
  const Config config = Rows(64, 100).With("Config(num_warps=2)");
  const auto one = emit::Generate(Rows(64, 100).ir(), config, {});
  const auto two = emit::Generate(Rows(64, 100).ir(), config, {});
  ASSERT_TRUE(one.ok() && two.ok());
  EXPECT_EQ(one->source, two->source);
}

}  // namespace
}  // namespace telemetry::worker::codegen
