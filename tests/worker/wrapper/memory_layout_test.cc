#include "worker/wrapper/memory_layout.h"

#include <algorithm>
#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/worker/wrapper/plan_outputs.h"
#include "tests/worker/wrapper/random_plan.h"
#include "tests/worker/wrapper/sample_plans.h"
#include "worker/device/device.h"
#include "worker/wrapper/memory_plan.h"
#include "worker/wrapper/memory_pool.h"
#include "worker/wrapper/plan_builder.h"
#include "worker/wrapper/size_class.h"

namespace telemetry::worker::wrapper {
namespace {

using device::DType;
using runtime::Tensor;

constexpr auto kAlignment = static_cast<int64_t>(device::kViewAlignment);

// Walks the lines, and expects that the buffers that exist at the same time are apart and inside the block. Returns the
// largest sum of their aligned sizes.
int64_t ExpectApart(const Plan& plan, const MemoryLayout& layout) {
  const auto begin = [&](int id) { return layout.offsets[static_cast<size_t>(id)]; };
  const auto size = [&](int id) {
    return (SizeClass(plan.buffer(id).bytes()) + kAlignment - 1) / kAlignment * kAlignment;
  };
  std::set<int> live;
  int64_t most = 0;
  for (const Line& line : plan.lines) {
    const LineEffects effects = ComputeEffects(line);
    if (std::holds_alternative<Reuse>(line)) live.erase(effects.frees);
    for (const int made : effects.makes) {
      if (begin(made) < 0) continue;
      EXPECT_EQ(begin(made) % kAlignment, 0);
      EXPECT_LE(begin(made) + size(made), layout.bytes);
      for (const int other : live) {
        EXPECT_TRUE(begin(made) + size(made) <= begin(other) || begin(other) + size(other) <= begin(made))
            << plan.buffer(made).name << " and " << plan.buffer(other).name << "\n"
            << plan.DebugString();
      }
      live.insert(made);
    }
    int64_t sum = 0;
    for (const int id : live) sum += size(id);
    most = std::max(most, sum);
    live.erase(effects.frees);
  }
  return most;
}

TEST(MemoryLayoutTest, BuffersThatExistTogetherAreApart) {
  int64_t blocks = 0;
  int64_t peaks = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const Plan plan = *RandomPlan(seed, {.unit = 1 + static_cast<int64_t>(seed % 3) * 20});
    for (const Plan& given : {plan, PlanMemory(plan)->plan, PlanMemory(plan, MemoryScope::kAllSizes)->plan}) {
      const MemoryLayout layout = LayOutMemory(given);
      const int64_t peak = ExpectApart(given, layout);
      EXPECT_GE(layout.bytes, peak);
      blocks += layout.bytes;
      peaks += peak;
    }
  }
  EXPECT_GT(peaks, 0);
  EXPECT_LE(static_cast<double>(blocks), 1.02 * static_cast<double>(peaks)) << "gaps between buffers";
}

// An output belongs to the caller, also if its memory belonged to another buffer before.
TEST(MemoryLayoutTest, OutputsAreNotInTheBlock) {
  PlanBuilder b("p");
  const BufferRef x = b.Input("x", DType::kF32, {64, 64});
  const BufferRef first = b.Call("exp", {x}, {.names = {"first"}})[0];
  const BufferRef second = b.Call("exp", {first}, {.names = {"second"}})[0];
  const BufferRef third = b.Call("exp", {second}, {.names = {"third"}})[0];
  b.Output(b.View(third, {64}, {64}, 0, "column"));
  const Plan plan = *b.Finish();
  const MemoryLayout layout = LayOutMemory(plan);
  EXPECT_THAT(layout.offsets, ::testing::ElementsAre(-1, 0, 16384, -1, -1));
  EXPECT_EQ(layout.bytes, 32768);
  const Plan planned = PlanMemory(plan)->plan;  // "first" becomes "third"
  ASSERT_THAT(planned.DebugString(), ::testing::HasSubstr("reuse first as third"));
  EXPECT_THAT(LayOutMemory(planned).offsets, ::testing::ElementsAre(-1, -1, 0, -1, -1));
}

// Random plans of three sizes share one pool, queued one behind the other, and give the bytes that they give with
// memory of their own.
TEST(MemoryPoolTest, PlansThatShareAPoolGiveTheSameResults) {
  const std::shared_ptr<device::Device> device = TestDevice();
  const auto pool = std::make_shared<MemoryPool>(device);
  struct Started {
    std::vector<ir::HostArray> expected;
    std::vector<Tensor> outputs;
  };
  std::vector<Started> started;
  int64_t largest = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const Plan plan = *RandomPlan(seed, {.unit = 1 + static_cast<int64_t>(seed % 3), .for_programs = true});
    const Plan run = seed % 2 == 0 ? plan : PlanMemory(plan)->plan;
    const std::vector<Tensor> inputs = MakeInputs(run, seed);
    const auto runner = PlanRunner::Create(run, device, nullptr, nullptr, pool);
    ASSERT_TRUE(runner.ok()) << runner.status();
    std::vector<Tensor> given;
    for (const Tensor& input : inputs) given.push_back(*runtime::ToDevice(device, *input.host));
    const absl::StatusOr<std::vector<Tensor>> outputs = (*runner)->Run(given);
    if (!outputs.ok()) {
      EXPECT_THAT(std::string(outputs.status().message()), ::testing::HasSubstr("not a multiple of 4096"));
      continue;
    }
    started.push_back({.expected = PlanOutputs(run, device, inputs), .outputs = *outputs});
    largest = std::max(largest, LayOutMemory(run).bytes);
  }
  EXPECT_GE(started.size(), 30u);
  EXPECT_EQ(pool->bytes(), largest);
  for (const Started& plan : started) {
    for (size_t i = 0; i < plan.outputs.size(); ++i) {
      EXPECT_EQ(ir::ToBytes(*ToHost(plan.outputs[i])), ir::ToBytes(plan.expected[i]));
    }
  }
}

TEST(MemoryPoolTest, TheBlockGrowsOnlyIfItIsTooSmall) {
  const auto pool = std::make_shared<MemoryPool>(TestDevice());
  EXPECT_EQ(pool->bytes(), 0);
  ASSERT_TRUE(pool->Block(8192).ok());
  ASSERT_TRUE(pool->Block(4096).ok());
  EXPECT_EQ(pool->allocations(), 1);
  ASSERT_TRUE(pool->Block(16384).ok());
  EXPECT_EQ(pool->allocations(), 2);
  EXPECT_EQ(pool->bytes(), 16384);
}

TEST(MemoryPoolTest, APoolBelongsToItsDevice) {
  const auto pool = std::make_shared<MemoryPool>(TestDevice());
  const absl::Status status = PlanRunner::Create(*LayerNormPlan(), nullptr, nullptr, nullptr, pool).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(std::string(status.message()), "plan 'layer_norm': the memory pool belongs to another device");
}

}  // namespace
}  // namespace telemetry::worker::wrapper
