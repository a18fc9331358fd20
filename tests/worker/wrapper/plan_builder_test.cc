#include "worker/wrapper/plan_builder.h"

#include <functional>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/worker/wrapper/sample_plans.h"

namespace telemetry::worker::wrapper {
namespace {

using device::DType;

std::string PlanText(const absl::StatusOr<Plan>& plan) {
  return plan.ok() ? plan->DebugString() : plan.status().ToString();
}

TEST(PlanBuilderTest, LayerNormWithItsThreeOutputs) {
  EXPECT_EQ(PlanText(LayerNormPlan()), R"(plan layer_norm
input x f32[8, 64]
input weight f32[64]
input bias f32[64]
define layer_norm: layer_norm x=8x64:f32 weight=64:f32 bias=64:f32
allocate out f32[8, 64]
allocate mean f32[8]
allocate rstd f32[8]
call layer_norm(x=x, weight=weight, bias=bias, eps=0.5) -> out=out, mean=mean, rstd=rstd
output out
output mean
output rstd
)");
}

TEST(PlanBuilderTest, AttentionAsThreeKernels) {
  EXPECT_EQ(PlanText(AttentionPlan()), R"(plan attention
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
allocate out f32[2, 16, 32]
call bmm(x=weight_batches, y=v) -> out=out
free_if_not_reused scores
free_if_not_reused weights
output out
)");
}

TEST(PlanBuilderTest, AGatedMlpWithExternProducts) {
  EXPECT_EQ(PlanText(GatedMlpPlan()), R"(plan gated_mlp
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
define matmul_1: matmul x=16x64:f32 y=64x32:f32
extern_allocating matmul_1(x=hidden, y=down) -> product f32[16, 32]
# leave room
view reshaped of product: [32, 16] strides [16, 1] offset 0
define exp: exp x=32x16:f32
allocate out f32[32, 16]
call exp(x=reshaped) -> out=out
free_if_not_reused gated
free_if_not_reused raised
free_if_not_reused hidden
free_if_not_reused product
output out
)");
}

TEST(PlanBuilderTest, RowsThatAreWrittenAndAddedTo) {
  EXPECT_EQ(PlanText(RowUpdatePlan()), R"(plan row_update
input table f32[128, 32]
input rows i32[16]
input others i32[16]
input updates f32[16, 32] strides [40, 1]
define exp: exp x=128x32:f32
allocate updated f32[128, 32]
call exp(x=table) -> out=updated
view lower of updated: [64, 32] strides [32, 1] offset 2048
define softmax: softmax x=16x32:f32
allocate added f32[16, 32]
call softmax(x=updates) -> out=added
index_put updated[rows] += added
index_put updated[others] = updates
define softmax_1: softmax x=64x32:f32
allocate out f32[64, 32]
call softmax_1(x=lower) -> out=out
free_if_not_reused added
output out
output updated
)");
}

TEST(PlanBuilderTest, UnpacksWhatALibraryReturns) {
  PlanBuilder b("packed");
  const BufferRef x = b.Input("x", DType::kF32, {4, 8});
  const BufferRef w = b.Input("w", DType::kF32, {8});
  const CallOutputs norm = b.CallExternAllocating("layer_norm", {x, w, w});
  b.Free(norm[1]);
  b.Output(norm[0]);
  EXPECT_THAT(PlanText(b.Finish()), ::testing::EndsWith(R"(
extern_allocating layer_norm(x=x, weight=w, bias=w, eps=1e-05) -> pack0
unpack pack0[0] as buf0 f32[4, 8]
unpack pack0[1] as buf1 f32[4]
unpack pack0[2] as buf2 f32[4]
free buf1
free_if_not_reused buf2
output buf0
)"));
}

TEST(PlanBuilderTest, AKernelIsDefinedOncePerConfigAndShape) {
  PlanBuilder b("configs");
  const BufferRef x = b.Input("x", DType::kF32, {4, 8});
  const codegen::Config config = *codegen::Config::Parse("Config(num_warps=2)");
  b.Call("exp", {x});
  b.Call("exp", {x}, {.config = config});
  b.Call("exp", {x});
  const absl::StatusOr<Plan> plan = b.Finish();
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_EQ(plan->kernels.size(), 2U);
  EXPECT_THAT(plan->DebugString(), ::testing::HasSubstr("define exp_1: exp x=4x8:f32 Config(num_warps=2)\n"));
}

// A mistake and its message. `build` gets the inputs x f32[4, 8] and y f32[8, 4].
struct Mistake {
  std::function<void(PlanBuilder&, BufferRef, BufferRef)> build;
  std::string message;
};

TEST(PlanBuilderTest, RefusesMistakesByNameAndValue) {
  const Mistake mistakes[] = {
      {[](auto& b, auto x, auto y) {
         b.Call("add", {x, y});
       },
       "kernel 'add', argument 'y': buffer 'y' is f32[8, 4], but m is 4 in argument 'x', not 8"},
      {[](auto& b, auto x, auto) {
         b.Call("matmul", {x, x});
       },
       "kernel 'matmul', argument 'y': buffer 'x' is f32[4, 8], but k is 8 in argument 'x', not 4"},
      {[](auto& b, auto x, auto) {
         b.Call("bmm", {x, x});
       },
       "kernel 'bmm', argument 'x': buffer 'x' is f32[4, 8], but the argument has 3 dimensions: b, m, k"},
      {[](auto& b, auto, auto) {
         b.Call("exp", {b.Input("i", DType::kI32, {4, 8})});
       },
       "kernel 'exp', argument 'x': buffer 'i' is i32[4, 8], but the dtype has to be f32 or f16 or bf16"},
      {[](auto& b, auto x, auto) { b.Call("add", {x}); }, "kernel 'add' takes 2 tensors, but 1 are given"},
      {[](auto& b, auto x, auto) {
         b.Call("exp", {x}, {.numbers = {{"scale", 2}}});
       },
       "kernel 'exp' has no number 'scale', given as 2"},
      {[](auto& b, auto x, auto) {
         b.Call("add", {x, BufferRef{99}});
       },
       "kernel 'add', argument 'y': no buffer 99 among 2"},
      {[](auto& b, auto x, auto) { b.Call("exp", {b.Call("exp", {x})[1]}); },
       "kernel 'exp', argument 'x': no buffer -1 among 3"},
      {[](auto& b, auto x, auto) {
         const BufferRef made = b.Call("exp", {x}, {.names = {"made"}})[0];
         b.Release(made);
         b.Call("exp", {made});
       },
       "kernel 'exp', argument 'x': buffer 'made' is used after its free"},
      {[](auto& b, auto x, auto) {
         const BufferRef made = b.Call("exp", {x}, {.names = {"made"}})[0];
         const BufferRef view = b.View(made, {8, 4}, {4, 1}, 0, "shown");
         b.Free(made);
         b.Call("exp", {view});
       },
       "kernel 'exp', argument 'x': buffer 'shown', a view of 'made', is used after its free"},
      {[](auto& b, auto x, auto) {
         b.Call("exp", {x}, {.into = {b.Allocate("a", DType::kF16, {4, 8})}});
       },
       "kernel 'exp', output 'out': buffer 'a' is f16[4, 8], but f32[4, 8] is written"},
      {[](auto& b, auto x, auto) { b.Call("exp", {x}, {.into = {x}}); },
       "kernel 'exp', output 'out': buffer 'x' is an input, which is only read"},
      {[](auto& b, auto x, auto) {
         const BufferRef made = b.Call("exp", {x}, {.names = {"made"}})[0];
         b.Call("exp", {made}, {.into = {made}});
       },
       "kernel 'exp', output 'out': buffer 'made' is an argument of the same call"},
      {[](auto& b, auto x, auto) { b.CallExternAllocating("exp", {x}, {.into = {x}}); },
       "kernel 'exp' allocates its outputs, but 1 buffers are given"},
      {[](auto& b, auto x, auto) {
         b.View(x, {4, 8}, {8, 1}, 1, "v");
       },
       "view 'v': shows elements 1 to 1 + 32 of 'x', which has 32"},
      {[](auto& b, auto, auto) { b.Input("x", DType::kF32, {1}); }, "two buffers have the name 'x'"},
      {[](auto& b, auto, auto) {
         b.Input("huge", DType::kF32, {int64_t{1} << 40, 2});
       },
       "more than 2^40 elements"},
      {[](auto& b, auto x, auto) { b.IndexPut(x, x, x); },
       "index_put: buffer 'x' is f32[4, 8], but the indices have to be i32 with one dimension"},
      {[](auto& b, auto x, auto y) { b.IndexPut(x, b.Input("i", DType::kI32, {8}), y); },
       "index_put: buffer 'y' is f32[8, 4], but the values have to be f32[8, 8]"},
      {[](auto& b, auto x, auto) { b.IndexPut(x, b.Input("i", DType::kI32, {4}), x); },
       "index_put: buffer 'x' is read and written by one line"},
      {[](auto& b, auto x, auto) {
         const BufferRef i = b.Input("i", DType::kI32, {2});
         b.IndexPut(i, i, x);
       },
       "buffer 'i' is i32[2], but the target has to be dense f32, f16 or bf16 with rows"},
      {[](auto& b, auto x, auto) {
         b.IndexPut(x, b.Input("i", DType::kI32, {2}), b.Input("z", DType::kF32, {2, 8}));
       },
       "buffer 'x' is an input, which is only read"},
      {[](auto& b, auto x, auto) {
         const BufferRef made = b.Call("exp", {x}, {.names = {"made"}})[0];
         b.IndexPut(made, b.Input("i", DType::kI32, {2}), b.View(made, {2, 8}, {8, 1}, 0));
       },
       "buffer 'made' is read and written by one line"},
      {[](auto& b, auto x, auto) {
         const BufferRef made = b.Call("exp", {x}, {.names = {"made"}})[0];
         b.IndexPut(b.View(made, {2, 8}, {8, 1}, 0, "part"), b.Input("i", DType::kI32, {4}), x);
       },
       "buffer 'part' is a view, which is only read"},
      {[](auto& b, auto x, auto) { b.Free(x); }, "free: buffer 'x' is an input, which belongs to the caller"},
      {[](auto& b, auto x, auto) { b.Output(x); }, "output: buffer 'x' is an input or a view of one"},
      {[](auto& b, auto x, auto) {
         const BufferRef made = b.Call("exp", {x}, {.names = {"made"}})[0];
         b.Output(made);
         b.Release(made);
       },
       "free: buffer 'made' is an output of the plan"},
  };
  for (const Mistake& mistake : mistakes) {
    PlanBuilder b("p");
    const BufferRef x = b.Input("x", DType::kF32, {4, 8});
    const BufferRef y = b.Input("y", DType::kF32, {8, 4});
    mistake.build(b, x, y);
    const absl::Status status = b.Finish().status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << mistake.message;
    EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr(mistake.message));
    EXPECT_THAT(std::string(status.message()), ::testing::StartsWith("plan 'p': "));
  }
}

TEST(PlanBuilderTest, ConditionalsAndSubgraphsInTheFlatList) {
  EXPECT_EQ(PlanText(RoutedPlan()), R"(plan routed
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
unpack pack0[2] as rstd f32[16]
if is_doubled
enter_subgraph then_1
call add(x=normed, y=normed) -> out=routed_rows
exit_subgraph
else
enter_subgraph else_1
call softmax(x=normed) -> out=routed_rows
exit_subgraph
end_if
free_if_not_reused normed
free_if_not_reused mean
free_if_not_reused rstd
exit_subgraph
else
enter_subgraph else_0
allocate weights f32[16, 32]
call softmax(x=hidden) -> out=weights
allocate mixed f32[16, 32]
call add(x=weights, y=hidden) -> out=mixed
allocate sharp f32[16, 32]
call softmax(x=mixed) -> out=sharp
call add(x=sharp, y=mixed) -> out=routed_rows
free_if_not_reused weights
free_if_not_reused mixed
free_if_not_reused sharp
exit_subgraph
end_if
allocate out f32[32, 16]
define softmax_1: softmax x=32x16:f32
define exp_1: exp x=32x16:f32
enter_subgraph tail
allocate columns f32[32, 16]
call softmax_1(x=turned) -> out=columns
call exp_1(x=columns) -> out=out
free_if_not_reused columns
exit_subgraph
free_if_not_reused hidden
free_if_not_reused routed_rows
output out
)");
}

TEST(PlanBuilderTest, MistakesInConditionals) {
  const Mistake mistakes[] = {
      {[](auto& b, auto x, auto) { b.If(x); },
       "if: buffer 'x' is f32[4, 8], but a predicate is bool or i32 of one element"},
      {[](auto& b, auto, auto) { b.If(b.Input("flags", DType::kBool, {2})); }, "if: buffer 'flags' is bool[2], but"},
      {[](auto& b, auto, auto) { b.If({}); }, "if: no buffer -1 among 2"},
      {[](auto& b, auto, auto) { b.Else(); }, "else: no branch of a conditional is open"},
      {[](auto& b, auto, auto) { b.EndIf(); }, "end_if: no branch of a conditional is open"},
      {[](auto& b, auto, auto) { b.ExitSubgraph(); }, "exit_subgraph: no subgraph is open that is not a branch"},
      {[](auto& b, auto, auto) {
         b.If(b.Input("flag", DType::kBool, {}));
         b.ExitSubgraph();
       },
       "exit_subgraph: no subgraph is open that is not a branch"},
      {[](auto& b, auto, auto) {
         b.If(b.Input("flag", DType::kBool, {}));
         b.EnterSubgraph("inner");
         b.EndIf();
       },
       "end_if: subgraph 'inner' is open; end it first"},
      {[](auto& b, auto, auto) {
         b.If(b.Input("flag", DType::kBool, {}));
         b.Else();
         b.Else();
       },
       "else: the conditional has an else already"},
      {[](auto& b, auto, auto) { b.If(b.Input("flag", DType::kBool, {}), "open"); },
       "subgraph 'open' is open; call EndIf() first"},
      {[](auto& b, auto, auto) { b.EnterSubgraph(); }, "subgraph 'subgraph_0' is open; call ExitSubgraph() first"},
      {[](auto& b, auto, auto) {
         for (int i = 0; i < 17; ++i) b.EnterSubgraph();
       },
       "subgraph 'subgraph_16': at most 16 subgraphs can be nested"},
      {[](auto& b, auto x, auto) {
         b.If(b.Input("flag", DType::kBool, {}));
         const BufferRef made = b.Call("exp", {x}, {.names = {"made"}})[0];
         b.EndIf();
         b.Output(b.Call("exp", {made})[0]);
       },
       "kernel 'exp', argument 'x': buffer 'made' ended with subgraph 'then_0'"},
      {[](auto& b, auto x, auto) {
         const BufferRef made = b.Call("exp", {x}, {.names = {"made"}})[0];
         b.If(b.Input("flag", DType::kBool, {}));
         b.Free(made);
       },
       "free: buffer 'made' is made outside subgraph 'then_0' and cannot end in it"},
      {[](auto& b, auto x, auto) {
         b.EnterSubgraph();
         b.Output(b.Call("exp", {x}, {.names = {"made"}})[0]);
       },
       "output: buffer 'made' ends with the subgraph that makes it"},
  };
  for (const Mistake& mistake : mistakes) {
    PlanBuilder b("p");
    const BufferRef x = b.Input("x", DType::kF32, {4, 8});
    const BufferRef y = b.Input("y", DType::kF32, {8, 4});
    mistake.build(b, x, y);
    const absl::Status status = b.Finish().status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << mistake.message;
    EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr(mistake.message));
    EXPECT_THAT(std::string(status.message()), ::testing::StartsWith("plan 'p': "));
  }
}

TEST(PlanBuilderTest, ScattersElements) {
  const std::string text = PlanText(ElementUpdatePlan());
  EXPECT_THAT(text, ::testing::HasSubstr("scatter updated[columns] dimension 1 = values\n"
                                         "scatter updated[rows] dimension 0 sum = added\n"
                                         "scatter updated[others] dimension 0 amax = updates\n"
                                         "scatter updated[rows] dimension 0 mean = added\n"
                                         "scatter updated[columns] dimension 1 = 0.3\n"
                                         "scatter updated[others] dimension 0 sum = 0.125\n"));
  PlanBuilder b("p");
  const BufferRef x = b.Input("x", DType::kF32, {4, 8});
  b.Scatter(x, 0, b.Input("i", DType::kI32, {4, 8}), b.Input("y", DType::kF32, {4, 8}));
  EXPECT_EQ(std::string(b.Finish().status().message()),
            "plan 'p': scatter: buffer 'x' is an input, which is only read");
  PlanBuilder other("p");
  const BufferRef made = other.Call("exp", {other.Input("x", DType::kF32, {4, 8})}, {.names = {"made"}})[0];
  other.Scatter(made, 2, other.Input("i", DType::kI32, {4, 8}), other.Input("y", DType::kF32, {4, 8}));
  EXPECT_EQ(std::string(other.Finish().status().message()),
            "plan 'p': scatter: buffer 'made' is f32[4, 8], which has no dimension 2");
}

TEST(PlanBuilderTest, JoinsTensors) {
  const std::string text = PlanText(JoinedPlan());
  EXPECT_THAT(text, ::testing::HasSubstr("allocate rows f32[20, 16]\n"
                                         "concatenate [x, wide, turned] dimension 0 -> rows\n"));
  EXPECT_THAT(text, ::testing::HasSubstr("concatenate [rows, sharp] dimension 1 -> both\n"));
  const Mistake mistakes[] = {
      {[](auto& b, auto x, auto y) {
         b.Concatenate({x, y}, 0);
       },
       "concatenate: buffer 'y' is f32[8, 4], but 'x' is f32[4, 8]: only dimension 0 can differ"},
      {[](auto& b, auto, auto) { b.Concatenate({}, 0); }, "concatenate: 0 tensors are given, but 1 to 64"},
      {[](auto& b, auto x, auto) {
         b.Concatenate({x, {}}, 0);
       },
       "concatenate: no buffer -1 among 2"},
      {[](auto& b, auto x, auto) {
         b.Concatenate({x, x}, 0, {.into = {b.Allocate("out", DType::kF32, {8, 9})}});
       },
       "concatenate: buffer 'out' is f32[8, 9], but f32[8, 8] is written"},
      {[](auto& b, auto x, auto) {
         const BufferRef made = b.Call("exp", {x}, {.names = {"made"}})[0];
         b.Concatenate({made}, 0, {.into = {made}});
       },
       "concatenate: buffer 'made' is an argument of the same call"},
      {[](auto& b, auto x, auto) {
         b.Concatenate({x}, 0, {.names = {"a", "b"}});
       },
       "there is one output"},
  };
  for (const Mistake& mistake : mistakes) {
    PlanBuilder b("p");
    const BufferRef x = b.Input("x", DType::kF32, {4, 8});
    mistake.build(b, x, b.Input("y", DType::kF32, {8, 4}));
    EXPECT_THAT(std::string(b.Finish().status().message()), ::testing::HasSubstr(mistake.message));
  }
}

TEST(PlanBuilderTest, AnUnknownKernelIsNotFound) {
  PlanBuilder b("p");
  b.Output(b.Call("softmaks", {b.Input("x", DType::kF32, {4, 8})})[0]);
  EXPECT_EQ(b.Finish().status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace telemetry::worker::wrapper
