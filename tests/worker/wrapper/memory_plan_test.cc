#include "worker/wrapper/memory_plan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/worker/wrapper/random_plan.h"
#include "tests/worker/wrapper/sample_plans.h"
#include "worker/wrapper/plan_builder.h"
#include "worker/wrapper/run_plan.h"
#include "worker/wrapper/size_class.h"
#include "worker/wrapper/subgraphs.h"
#include "worker/wrapper/verify_plan.h"

namespace telemetry::worker::wrapper {
namespace {

using device::DType;
using runtime::Tensor;

TEST(SizeClassTest, RoundsUpToFourStepsPerDoubling) {
  const std::vector<std::pair<int64_t, int64_t>> classes = {
      {-1, 0}, {0, 0}, {1, 512}, {512, 512}, {513, 1024}, {4096, 4096}, {4097, 5120}, {8192, 8192}, {8193, 10240}};
  for (const auto& [bytes, wanted] : classes) EXPECT_EQ(SizeClass(bytes), wanted) << bytes;
  EXPECT_EQ(SizeClass((int64_t{1} << 60) - 1), int64_t{1} << 60);
}

TEST(SizeClassTest, WastesLessThanAFifthBeyondTheSmallest) {
  for (int64_t bytes = 2049; bytes < 1'000'000; bytes += 17) {
    const int64_t allocated = SizeClass(bytes);
    ASSERT_GE(allocated, bytes);
    ASSERT_LT(5 * (allocated - bytes), allocated) << bytes;
    ASSERT_EQ(SizeClass(allocated), allocated);
  }
}

MemoryPlan Planned(const absl::StatusOr<Plan>& plan) {
  EXPECT_TRUE(plan.ok()) << plan.status();
  absl::StatusOr<MemoryPlan> planned = PlanMemory(*plan);
  EXPECT_TRUE(planned.ok()) << planned.status();
  return *std::move(planned);
}

TEST(MemoryPlanTest, LayerNormHasNothingToReuse) {
  const absl::StatusOr<Plan> plan = LayerNormPlan();
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(Planned(plan).plan.DebugString(), plan->DebugString());
}

TEST(MemoryPlanTest, AttentionWritesItsResultOverItsScoresWhereTheyAreAlike) {
  const MemoryPlan planned = Planned(AttentionPlan());
  EXPECT_EQ(planned.plan.DebugString(), R"(plan attention
input q f32[2, 16, 32]
input k f32[2, 32, 32]
input v f32[2, 32, 32]
define bmm: bmm x=2x16x32:f32 y=2x32x32:f32
allocate scores f32[2, 16, 32]
call bmm(x=q, y=k) -> out=scores
view score_rows of scores: [32, 32] strides [32, 1] offset 0
define softmax: softmax x=32x32:f32
allocate weights f32[32, 32]
call softmax(x=score_rows) -> out=weights
view weight_batches of weights: [2, 16, 32] strides [512, 32, 1] offset 0
reuse scores as out f32[2, 16, 32]
call bmm(x=weight_batches, y=v) -> out=out
free weights
output out
)");
  EXPECT_EQ(planned.peak_bytes_before, 3 * 4096);
  EXPECT_EQ(planned.peak_bytes_after, 2 * 4096);
  EXPECT_EQ(planned.allocations_before, 3);
  EXPECT_EQ(planned.allocations_after, 2);
}

TEST(MemoryPlanTest, WhatALibraryAllocatedIsNotReused) {
  const MemoryPlan planned = Planned(GatedMlpPlan());
  EXPECT_EQ(planned.plan.DebugString(), R"(plan gated_mlp
input x f32[16, 32]
input gate f32[32, 64]
input up f32[32, 64]
input down f32[64, 32]
# gate and up
define matmul: matmul x=16x32:f32 y=32x64:f32
allocate gated f32[16, 64]
extern matmul(x=x, y=gate) -> out=gated
allocate raised f32[16, 64]
extern matmul(x=x, y=up) -> out=raised
define geglu: geglu a=16x64:f32 b=16x64:f32
allocate hidden f32[16, 64]
call geglu(a=gated, b=raised) -> out=hidden
free gated
free raised
define matmul_1: matmul x=16x64:f32 y=64x32:f32
extern_allocating matmul_1(x=hidden, y=down) -> product f32[16, 32]
free hidden
# leave room
view reshaped of product: [32, 16] strides [16, 1] offset 0
define exp: exp x=32x16:f32
allocate out f32[32, 16]
call exp(x=reshaped) -> out=out
free product
output out
)");
  EXPECT_EQ(planned.peak_bytes_before, 3 * 4096 + 2 * 2048);
  EXPECT_EQ(planned.peak_bytes_after, 3 * 4096);
}

// Checks that memory is not held for a later buffer across the peak.
TEST(MemoryPlanTest, DoesNotHoldMemoryAcrossThePeak) {
  PlanBuilder b("peak");
  const BufferRef small = b.Input("small", DType::kF32, {8, 16});
  const BufferRef large = b.Input("large", DType::kF32, {64, 64});
  const BufferRef first = b.Call("exp", {small}, {.names = {"first"}})[0];
  b.Call("exp", {first}, {.names = {"second"}});
  b.Call("exp", {b.Call("exp", {large})[0]});
  b.Output(b.Call("exp", {small}, {.names = {"last"}})[0]);
  const MemoryPlan planned = Planned(b.Finish());
  EXPECT_EQ(planned.peak_bytes_after, 2 * 16384);
  EXPECT_THAT(planned.plan.DebugString(), ::testing::HasSubstr("\nallocate last"));
}

TEST(MemoryPlanTest, AnotherDTypeIsNotReused) {
  PlanBuilder b("dtypes");
  const BufferRef wide = b.Input("wide", DType::kF32, {16, 16});
  const BufferRef narrow = b.Input("narrow", DType::kF16, {16, 32});
  b.Call("exp", {wide}, {.names = {"a"}});
  b.Call("exp", {narrow}, {.names = {"b"}});
  b.Output(b.Call("exp", {narrow}, {.names = {"c"}})[0]);
  const std::string text = Planned(b.Finish()).plan.DebugString();
  EXPECT_THAT(text, ::testing::HasSubstr("free a\n"));
  EXPECT_THAT(text, ::testing::HasSubstr("allocate b f16[16, 32]"));
  EXPECT_THAT(text, ::testing::HasSubstr("reuse b as c f16[16, 32]"));
}

// Checks that memory whose rows are written is not reused before that, and not while a view still reads it.
TEST(MemoryPlanTest, MemoryWithWrittenRowsStays) {
  PlanBuilder b("rows");
  const BufferRef x = b.Input("x", DType::kF32, {16, 16});
  const BufferRef rows = b.Input("rows", DType::kI32, {16});
  const BufferRef first = b.Call("exp", {x}, {.names = {"first"}})[0];
  const BufferRef view = b.View(first, {16, 16}, {1, 16}, 0, "view");
  const BufferRef second = b.Call("exp", {x}, {.names = {"second"}})[0];
  b.IndexPut(first, rows, second);
  b.Call("exp", {x}, {.names = {"third"}});
  b.Output(b.Call("softmax", {view}, {.names = {"out"}})[0]);
  const std::string text = Planned(b.Finish()).plan.DebugString();
  EXPECT_THAT(text, ::testing::HasSubstr("index_put first[rows] = second\nreuse second as third"));
  EXPECT_THAT(text, ::testing::Not(::testing::HasSubstr("reuse first")));
}

// Checks that memory of a conditional is reused in its branch only, and that buffers from outside are allocated before
// the conditional that uses them and end behind it.
TEST(MemoryPlanTest, BranchesReuseTheirOwnMemory) {
  const MemoryPlan planned = Planned(RoutedPlan());
  EXPECT_EQ(planned.plan.DebugString(), R"(plan routed
input x f32[16, 32]
input weight f32[32]
input is_normed bool[1]
input is_doubled i32[]
define exp: exp x=16x32:f32
allocate hidden f32[16, 32]
call exp(x=x) -> out=hidden
allocate routed_rows f32[16, 32]
view turned of routed_rows: [32, 16] strides [1, 32] offset 0
define layer_norm: layer_norm x=16x32:f32 weight=32:f32 bias=32:f32
define add: add x=16x32:f32 y=16x32:f32
define softmax: softmax x=16x32:f32
if is_normed
enter_subgraph then_0
extern_allocating layer_norm(x=hidden, weight=weight, bias=weight, eps=1e-05) -> pack0
unpack pack0[0] as normed f32[16, 32]
unpack pack0[1] as mean f32[16]
free mean
unpack pack0[2] as rstd f32[16]
free rstd
if is_doubled
enter_subgraph then_1
call add(x=normed, y=normed) -> out=routed_rows
exit_subgraph
else
enter_subgraph else_1
call softmax(x=normed) -> out=routed_rows
exit_subgraph
end_if
free normed
exit_subgraph
else
enter_subgraph else_0
allocate weights f32[16, 32]
call softmax(x=hidden) -> out=weights
allocate mixed f32[16, 32]
call add(x=weights, y=hidden) -> out=mixed
reuse weights as sharp f32[16, 32]
call softmax(x=mixed) -> out=sharp
call add(x=sharp, y=mixed) -> out=routed_rows
free mixed
free sharp
exit_subgraph
end_if
define softmax_1: softmax x=32x16:f32
define exp_1: exp x=32x16:f32
reuse hidden as out f32[32, 16]
enter_subgraph tail
allocate columns f32[32, 16]
call softmax_1(x=turned) -> out=columns
call exp_1(x=columns) -> out=out
free columns
exit_subgraph
free routed_rows
output out
)");
  // Without planning: hidden, routed_rows and three buffers of the second branch.
  EXPECT_EQ(planned.peak_bytes_before, 5 * 2048);
  EXPECT_EQ(planned.peak_bytes_after, 4 * 2048);
}

// Memory that was released before a conditional is not reused in it, but behind it, if that does not raise the peak.
TEST(MemoryPlanTest, ReleasedMemoryWaitsForTheEndOfABranch) {
  PlanBuilder b("waits");
  const BufferRef x = b.Input("x", DType::kF32, {16, 16});
  const BufferRef flag = b.Input("flag", DType::kBool, {});
  const BufferRef early = b.Call("exp", {x}, {.names = {"early"}})[0];
  const BufferRef kept = b.Call("exp", {early}, {.names = {"kept"}})[0];
  b.Release(early);
  b.If(flag);
  b.Call("exp", {b.Call("exp", {x}, {.names = {"inner"}})[0]}, {.into = {kept}});
  b.EndIf();
  b.Output(b.Call("softmax", {kept}, {.names = {"late"}})[0]);
  const std::string text = Planned(b.Finish()).plan.DebugString();
  EXPECT_THAT(text, ::testing::HasSubstr("enter_subgraph then_0\nallocate inner f32[16, 16]\n"));
  EXPECT_THAT(text, ::testing::HasSubstr("free inner\nexit_subgraph\nend_if\n"));
  // Holding `early` during the branch would raise the peak from two buffers to three.
  EXPECT_THAT(text, ::testing::HasSubstr("\nfree early\n"));
  EXPECT_THAT(text, ::testing::HasSubstr("\nallocate late f32[16, 16]\n"));
}

TEST(MemoryPlanTest, WhatIsNeverUsedGoesAway) {
  PlanBuilder b("unused");
  b.Allocate("unused", DType::kF32, {8, 8});
  b.Output(b.Call("exp", {b.Input("x", DType::kF32, {8, 8})})[0]);
  EXPECT_THAT(Planned(b.Finish()).plan.DebugString(), ::testing::Not(::testing::HasSubstr("unused f32")));
}

TEST(MemoryPlanTest, RefusesAPlanThatIsWrong) {
  Plan plan = *AttentionPlan();
  plan.lines.pop_back();  // removes a release
  EXPECT_EQ(PlanMemory(plan).status().code(), absl::StatusCode::kInvalidArgument);
}

// Returns the outputs with a number that no dtype has instead of NaN, so that NaNs are equal.
std::vector<std::vector<double>> RunOnHost(const Plan& plan, uint64_t seed) {
  const auto runner = PlanRunner::Create(plan, nullptr);
  EXPECT_TRUE(runner.ok()) << runner.status();
  const absl::StatusOr<std::vector<Tensor>> outputs = (*runner)->Run(MakeInputs(plan, seed));
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  std::vector<std::vector<double>> results;
  for (const Tensor& output : *outputs) {
    results.push_back(output.host->RowMajor());
    for (double& value : results.back()) value = std::isnan(value) ? std::numeric_limits<double>::lowest() : value;
  }
  return results;
}

TEST(MemoryPlanTest, RandomPlansGiveTheSameWithALowerPeak) {
  int reused = 0;
  int lowered = 0;
  int with_written_rows = 0;
  int with_conditionals = 0;
  int with_nested_conditionals = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const absl::StatusOr<Plan> plan = RandomPlan(seed);
    ASSERT_TRUE(plan.ok()) << plan.status();
    const absl::StatusOr<MemoryPlan> planned = PlanMemory(*plan);
    ASSERT_TRUE(planned.ok()) << planned.status() << "\n" << plan->DebugString();
    ASSERT_LE(planned->peak_bytes_after, planned->peak_bytes_before);
    ASSERT_LE(planned->allocations_after, planned->allocations_before);
    ASSERT_THAT(RunOnHost(planned->plan, seed), ::testing::Pointwise(::testing::Eq(), RunOnHost(*plan, seed)))
        << plan->DebugString() << "\n"
        << planned->plan.DebugString();
    // A second pass does not raise the peak.
    ASSERT_LE(PlanMemory(planned->plan)->peak_bytes_after, planned->peak_bytes_after);
    if (planned->plan.DebugString().find("\nreuse ") != std::string::npos) ++reused;
    if (planned->peak_bytes_after < planned->peak_bytes_before) ++lowered;
    if (planned->plan.DebugString().find("\nindex_put ") != std::string::npos) ++with_written_rows;
    const Subgraphs subgraphs = FindSubgraphs(*plan);
    const auto is_branch = [](const Subgraph& subgraph) { return subgraph.first != subgraph.enter; };
    const auto is_nested = [](const Subgraph& subgraph) { return subgraph.parent >= 0; };
    if (std::any_of(subgraphs.all.begin(), subgraphs.all.end(), is_branch)) ++with_conditionals;
    if (std::any_of(subgraphs.all.begin(), subgraphs.all.end(), is_nested)) ++with_nested_conditionals;
  }
  EXPECT_GT(reused, 50);
  EXPECT_GT(lowered, 100);
  EXPECT_GT(with_written_rows, 20);
  EXPECT_GT(with_conditionals, 150);
  EXPECT_GT(with_nested_conditionals, 50);
}

// The memory of the lines: each line with the buffers that it makes and frees, without those of definitions.
std::string MemoryText(const Plan& plan) {
  std::string text;
  for (const Line& line : plan.lines) {
    if (std::holds_alternative<DefineKernel>(line)) continue;
    const LineEffects effects = ComputeEffects(line);
    text += std::to_string(line.index()) + ":";
    for (const int id : effects.makes) text += " " + plan.buffer(id).name;
    if (effects.frees >= 0) text += " - " + plan.buffer(effects.frees).name;
    text += "\n";
  }
  return text;
}

// Planning for all sizes gives the same lines at every size, and never a higher peak.
TEST(MemoryPlanTest, RandomPlansOfAllSizes) {
  int reused = 0;
  int lowered = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::string memory;
    for (const int64_t unit : {1, 3, 50}) {
      const absl::StatusOr<Plan> plan = RandomPlan(seed, {.unit = unit});
      ASSERT_TRUE(plan.ok()) << plan.status();
      const absl::StatusOr<MemoryPlan> planned = PlanMemory(*plan, MemoryScope::kAllSizes);
      ASSERT_TRUE(planned.ok()) << planned.status() << "\n" << plan->DebugString();
      ASSERT_LE(planned->peak_bytes_after, planned->peak_bytes_before);
      ASSERT_LE(planned->peak_bytes_after, MostPeakBytes(planned->plan).value());
      ASSERT_LE(MostPeakBytes(planned->plan).value(), MostPeakBytes(*plan).value());
      if (memory.empty()) memory = MemoryText(planned->plan);
      ASSERT_EQ(MemoryText(planned->plan), memory) << "unit " << unit;
      if (unit > 1) continue;
      ASSERT_THAT(RunOnHost(planned->plan, seed), ::testing::Pointwise(::testing::Eq(), RunOnHost(*plan, seed)));
      if (planned->plan.DebugString().find("\nreuse ") != std::string::npos) ++reused;
      if (planned->peak_bytes_after < planned->peak_bytes_before) ++lowered;
    }
  }
  EXPECT_GT(reused, 50);
  EXPECT_GT(lowered, 100);
}

// Returns a plan over f32[n, 8] and f32[k, 8] with n from 1 to 100. `early` ends before two f16 buffers of n are held,
// and `late` begins after them. Three buffers of k are held at the end.
Plan PlanOfTwoSymbols(int64_t least_k, int64_t n, int64_t k) {
  PlanBuilder b("two_symbols");
  const auto input = [&](const std::string& name, DType dtype, int64_t rows, int symbol) {
    const BufferRef made = b.Input(name, dtype, {rows, 8});
    b.SetForms(made, {SizeForm::Symbol(symbol), 8});
    return made;
  };
  const BufferRef x = input("x", DType::kF32, n, 0);
  const BufferRef y = input("y", DType::kF16, n, 0);
  const BufferRef z = input("z", DType::kF32, k, 1);
  const BufferRef kept = b.Call("exp", {x}, {.names = {"kept"}})[0];
  const BufferRef early = b.Call("exp", {x}, {.names = {"early"}})[0];
  b.Call("exp", {early}, {.into = {kept}});
  const BufferRef first = b.Call("exp", {y}, {.names = {"first"}})[0];
  const BufferRef second = b.Call("exp", {first}, {.names = {"second"}})[0];
  b.Call("exp", {second}, {.into = {first}});
  const BufferRef late = b.Call("exp", {x}, {.names = {"late"}})[0];
  b.Call("exp", {late}, {.into = {kept}});
  const BufferRef large = b.Call("exp", {z}, {.names = {"large"}})[0];
  const BufferRef larger = b.Call("exp", {large}, {.names = {"larger"}})[0];
  b.Output(b.Call("add", {large, larger}, {.names = {"largest"}})[0]);
  b.Output(kept);
  b.SetSymbols(
      {{.name = "n", .min = 1, .max = 100, .value = n}, {.name = "k", .min = least_k, .max = 1000, .value = k}});
  const absl::StatusOr<Plan> plan = b.Finish();
  EXPECT_TRUE(plan.ok()) << plan.status();
  return *plan;
}

// Memory is held for a later buffer only if the bounds say that the peak cannot rise.
TEST(MemoryPlanTest, BoundsDecideWhetherMemoryIsHeld) {
  const auto text_of = [](const Plan& plan, MemoryScope scope) {
    const absl::StatusOr<MemoryPlan> planned = PlanMemory(plan, scope);
    EXPECT_TRUE(planned.ok()) << planned.status();
    EXPECT_LE(planned->peak_bytes_after, planned->peak_bytes_before);
    return planned->plan.DebugString();
  };
  const auto reuses = ::testing::HasSubstr("\nreuse early as late ");
  for (const auto& [n, k] : std::vector<std::pair<int64_t, int64_t>>{{64, 1000}, {100, 100}, {1, 500}}) {
    EXPECT_THAT(text_of(PlanOfTwoSymbols(100, n, k), MemoryScope::kAllSizes), reuses) << n << " " << k;
  }
  for (const auto& [n, k] : std::vector<std::pair<int64_t, int64_t>>{{64, 1000}, {100, 10}, {1, 500}}) {
    EXPECT_THAT(text_of(PlanOfTwoSymbols(10, n, k), MemoryScope::kAllSizes), ::testing::Not(reuses)) << n << " " << k;
  }
  // For one size the peak itself decides.
  EXPECT_THAT(text_of(PlanOfTwoSymbols(10, 64, 1000), MemoryScope::kTheseSizes), reuses);
  EXPECT_THAT(text_of(PlanOfTwoSymbols(10, 100, 10), MemoryScope::kTheseSizes), ::testing::Not(reuses));
}

TEST(MemoryPlanTest, TheLargestPeakIsThatOfTheLargestSizes) {
  const Plan plan = PlanOfTwoSymbols(10, 5, 20);
  EXPECT_EQ(MostPeakBytes(plan), PeakBytes(PlanOfTwoSymbols(10, 100, 1000)));
  Plan unbounded = plan;
  unbounded.symbols[1].max = int64_t{1} << 60;
  EXPECT_EQ(MostPeakBytes(unbounded), std::nullopt);
}

TEST(MemoryPlanTest, FormsMustGiveTheSizes) {
  Plan plan = PlanOfTwoSymbols(10, 5, 20);
  plan.symbols[0].value = 6;
  const absl::Status status = PlanMemory(plan, MemoryScope::kAllSizes).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()),
              ::testing::HasSubstr("buffer 'x', dimension 0 is 5, but 'n' for all sizes"));
  EXPECT_TRUE(PlanMemory(plan).ok());
}

// One plan at other sizes: the same lines, and never a higher peak.
TEST(MemoryPlanTest, RandomPlansOfThreeShapes) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const Plan small = *RandomPlan(seed);
    for (const int64_t unit : {2, 3}) {
      const absl::StatusOr<Plan> plan = RandomPlan(seed, {.unit = unit});
      ASSERT_TRUE(plan.ok()) << plan.status();
      ASSERT_EQ(plan->lines.size(), small.lines.size());
      for (size_t i = 0; i < small.lines.size(); ++i) ASSERT_EQ(plan->lines[i].index(), small.lines[i].index());
      const absl::StatusOr<MemoryPlan> planned = PlanMemory(*plan);
      ASSERT_TRUE(planned.ok()) << planned.status();
      ASSERT_LE(planned->peak_bytes_after, planned->peak_bytes_before);
      ASSERT_THAT(RunOnHost(planned->plan, seed), ::testing::Pointwise(::testing::Eq(), RunOnHost(*plan, seed)));
    }
  }
}

}  // namespace
}  // namespace telemetry::worker::wrapper
