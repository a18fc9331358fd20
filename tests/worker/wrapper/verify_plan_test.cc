#include "worker/wrapper/verify_plan.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/worker/wrapper/sample_plans.h"

namespace telemetry::worker::wrapper {
namespace {

TEST(VerifyPlanTest, RowsAreWrittenToMemoryOfThePlanOnly) {
  const auto message = [](auto damage) {
    Plan plan = *RowUpdatePlan();
    for (Line& line : plan.lines) {
      if (auto* put = std::get_if<IndexPut>(&line)) {
        damage(plan, *put);
        break;
      }
    }
    return std::string(VerifyPlan(plan).message());
  };
  const int table = 0;
  EXPECT_EQ(message([](Plan&, IndexPut&) {}), "");
  EXPECT_THAT(
      message([&](Plan&, IndexPut& put) { put.target = table; }),
      ::testing::HasSubstr("line 7 (index_put table[rows] += added): buffer 'table' is written, but is an input"));
  EXPECT_THAT(message([](Plan&, IndexPut& put) { ++put.target; }),
              ::testing::HasSubstr("buffer 'lower' is written, but is a view"));
  EXPECT_THAT(message([](Plan&, IndexPut& put) { put.values = put.indices; }),
              ::testing::HasSubstr("buffer 'rows' is i32[16], but the values have to be f32[16, 32]"));
  EXPECT_THAT(message([](Plan&, IndexPut& put) { put.indices = 99; }), ::testing::HasSubstr("line 7: no buffer 99"));
  EXPECT_THAT(message([](Plan& plan, IndexPut&) { plan.lines.erase(plan.lines.begin() + 1); }),
              ::testing::HasSubstr("buffer 'updated' does not exist yet"));
}

// A damage to AttentionPlan, and the error that it causes. Lines of the plan: 0 define, 1 allocate scores, 2 call, 3
// view, 4 define, 5 allocate weights, 6 call, 7 view, 8 allocate out, 9 call, 10 and 11 release scores and weights.
// Buffers: 0-2 inputs, 3 scores, 4 score_rows, 5 weights, 6 weight_batches, 7 out.
struct Damage {
  std::function<void(Plan&)> make;
  std::string message;
};

void Insert(Plan& plan, int at, Line line) { plan.lines.insert(plan.lines.begin() + at, std::move(line)); }

TEST(VerifyPlanTest, NamesTheLineAndTheBuffer) {
  const Damage damages[] = {
      {[](Plan& p) { Insert(p, 3, Free{3}); },
       "line 4 (view score_rows of scores: [32, 32] strides [32, 1] offset 0): buffer 'scores' was freed in line 3"},
      {[](Plan& p) { Insert(p, 4, Free{3}); },
       "line 7 (call softmax(x=score_rows) -> out=weights): buffer 'score_rows' (a view of 'scores') was freed in line "
       "4"},
      {[](Plan& p) { Insert(p, 12, Free{3}); }, "line 12 (free scores): buffer 'scores' was freed in line 10"},
      {[](Plan& p) { Insert(p, 12, Free{7}); }, "output: buffer 'out' was freed in line 12"},
      {[](Plan& p) { Insert(p, 12, Free{0}); }, "buffer 'q' is an input, which belongs to the caller"},
      {[](Plan& p) { Insert(p, 10, Free{4}); }, "buffer 'score_rows' is a view, which has no memory of its own"},
      {[](Plan& p) { p.lines.erase(p.lines.begin() + 1); }, "buffer 'scores' does not exist yet"},
      {[](Plan& p) { p.lines.erase(p.lines.begin() + 10); }, "buffer 'scores' is never freed"},
      {[](Plan& p) { p.lines.erase(p.lines.begin()); }, "kernel 'bmm' is not defined yet"},
      {[](Plan& p) { Insert(p, 2, Allocate{3}); }, "buffer 'scores' exists already"},
      {[](Plan& p) { Insert(p, 2, Allocate{8}); }, "line 2: no buffer 8 among 8"},
      {[](Plan& p) { Insert(p, 2, Free{-1}); }, "line 2: no buffer -1 among 8"},
      {[](Plan& p) { Insert(p, 2, DefineKernel{2}); }, "line 2: no kernel 2 among 2"},
      {[](Plan& p) { std::get<Reinterpret>(p.lines[3]).offset = 1; },
       "buffer 'score_rows' shows elements 1 to 1 + 1024 from element 0 of 'scores', which has 1024"},
      {[](Plan& p) { std::get<Reinterpret>(p.lines[3]).offset = std::numeric_limits<int64_t>::max(); },
       "buffer 'score_rows' shows elements 9223372036854775807 to"},
      {[](Plan& p) { std::get<CallKernel>(p.lines[9]).call.arguments[1] = 4; },
       "kernel 'bmm', argument 'y': is f32[2, 32, 32], not f32[32, 32] of buffer 'score_rows'"},
      {[](Plan& p) { std::get<CallKernel>(p.lines[9]).call.arguments.pop_back(); },
       "line 9: kernel 'bmm' has 2 arguments, not 1"},
      {[](Plan& p) { std::get<CallKernel>(p.lines[2]).call.outputs[0] = 0; }, "buffer 'q' is written, but is an input"},
      {[](Plan& p) { std::get<CallKernel>(p.lines[9]).call.outputs[0] = 6; },
       "buffer 'weight_batches' is written, but is a view"},
      {[](Plan& p) { std::get<CallKernel>(p.lines[9]).call.arguments[0] = 7; },
       "buffer 'out' is read and written by one call"},
      {[](Plan& p) {
         p.buffers[7].dtype = device::DType::kF16;
         p.lines[8] = Reuse{3, 7};
       },
       "f32 memory cannot become f16"},
      {[](Plan& p) {
         p.buffers[7].sizes = {2, 16, 64};
         p.buffers[7].strides = {1024, 64, 1};
         p.lines[8] = Reuse{3, 7};
       },
       "buffer 'scores' has size class 4096, buffer 'out' needs 8192"},
      {[](Plan& p) {
         p.lines[8] = Reuse{3, 7};
       },
       "(free_if_not_reused scores): buffer 'scores' was freed in line 8"},
      {[](Plan& p) {
         p.lines[8] = Reuse{0, 7};
       },
       "buffer 'q' is an input"},
      {[](Plan& p) {
         p.lines[8] = Unpack{"pack0", 0, 7};
       },
       "buffer 'out' is not part 0 of pack 'pack0'"},
      {[](Plan& p) { p.buffers[0].strides = {1}; }, "the number of strides differs from the number of sizes"},
      {[](Plan& p) { p.buffers[0].dtype = device::DType::kU16; }, "buffer 'q' is u16: the integers of plans are i32"},
      {[](Plan& p) { p.outputs = {12}; }, "no buffer 12 among 8"},
      {[](Plan& p) { p.kernels[0].library = nullptr; }, "kernel 'bmm' lacks arguments or outputs"},
  };
  for (const Damage& damage : damages) {
    Plan plan = *AttentionPlan();
    damage.make(plan);
    const absl::Status status = VerifyPlan(plan);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << damage.message;
    EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr(damage.message));
    EXPECT_THAT(std::string(status.message()), ::testing::StartsWith("plan 'attention': "));
  }
}

TEST(VerifyPlanTest, ElementsAreWrittenToMemoryOfThePlanOnly) {
  const auto message = [](auto damage) {
    Plan plan = *ElementUpdatePlan();
    for (Line& line : plan.lines) {
      if (auto* scatter = std::get_if<Scatter>(&line)) {
        damage(plan, *scatter);
        break;
      }
    }
    return std::string(VerifyPlan(plan).message());
  };
  EXPECT_EQ(message([](Plan&, Scatter&) {}), "");
  EXPECT_THAT(
      message([&](Plan&, Scatter& scatter) { scatter.target = 0; }),
      ::testing::HasSubstr("(scatter table[columns] dimension 1 = values): buffer 'table' is written, but is an "
                           "input"));
  EXPECT_THAT(message([](Plan& plan, Scatter& scatter) {
                plan.buffers[static_cast<size_t>(scatter.target) + 1] = {
                    .name = "turned", .sizes = {24, 16}, .strides = {16, 1}};
                ++scatter.target;
              }),
              ::testing::HasSubstr("buffer 'turned' is written, but is a view"));
  EXPECT_THAT(message([](Plan&, Scatter& scatter) { scatter.dimension = 2; }),
              ::testing::HasSubstr("buffer 'updated' is f32[24, 16], which has no dimension 2"));
  EXPECT_THAT(message([](Plan&, Scatter& scatter) { scatter.dimension = -1; }),
              ::testing::HasSubstr("which has no dimension -1"));
  EXPECT_THAT(message([](Plan&, Scatter& scatter) { scatter.indices = scatter.values; }),
              ::testing::HasSubstr("but the indices have to be i32 with as many dimensions as the target"));
  EXPECT_THAT(
      message([](Plan&, Scatter& scatter) { ++scatter.indices; }),
      ::testing::HasSubstr("buffer 'values' is f32[20, 3] strides [4, 1], but the values have to be f32[40, 16]"));
  EXPECT_THAT(message([](Plan& plan, Scatter&) {
                plan.buffers[1].sizes = {25, 3};
                plan.buffers[4].sizes = {25, 3};
              }),
              ::testing::HasSubstr("which is larger than the target in dimension 0"));
  EXPECT_THAT(message([](Plan&, Scatter& scatter) { scatter.values = 99; }), ::testing::HasSubstr("no buffer 99"));
  EXPECT_EQ(message([](Plan&, Scatter& scatter) { scatter.values = -1; }), "");
  EXPECT_THAT(message([](Plan&, Scatter& scatter) {
                scatter.values = -1;
                scatter.number = 1e300;
              }),
              ::testing::HasSubstr("the number 1e+300 is no finite f"));
}

TEST(VerifyPlanTest, TensorsThatAreJoinedFit) {
  const auto message = [](auto damage) {
    Plan plan = *JoinedPlan();
    for (Line& line : plan.lines) {
      if (auto* joined = std::get_if<Concatenate>(&line)) {
        damage(plan, *joined);
        break;
      }
    }
    return std::string(VerifyPlan(plan).message());
  };
  EXPECT_EQ(message([](Plan&, Concatenate&) {}), "");
  EXPECT_THAT(message([](Plan&, Concatenate& joined) { joined.tensors.clear(); }),
              ::testing::HasSubstr("0 tensors are given, but 1 to 64 can be concatenated"));
  EXPECT_THAT(message([](Plan&, Concatenate& joined) { joined.tensors.resize(65); }),
              ::testing::HasSubstr("65 tensors are given"));
  EXPECT_THAT(message([](Plan&, Concatenate& joined) { joined.tensors.pop_back(); }),
              ::testing::HasSubstr("(concatenate [x, wide] dimension 0 -> rows): buffer 'rows' is f32[20, 16], but "
                                   "f32[12, 16] is written"));
  EXPECT_THAT(
      message([](Plan&, Concatenate& joined) { joined.dimension = 1; }),
      ::testing::HasSubstr("buffer 'wide' is f32[4, 16] strides [20, 1], but 'x' is f32[8, 16]: only dimension 1 "
                           "can differ"));
  EXPECT_THAT(message([](Plan&, Concatenate& joined) { joined.dimension = 2; }),
              ::testing::HasSubstr("which has no dimension 2"));
  EXPECT_THAT(message([](Plan&, Concatenate& joined) { joined.tensors[0] = 99; }),
              ::testing::HasSubstr("no buffer 99"));
  EXPECT_THAT(message([](Plan&, Concatenate& joined) {
                joined.tensors = {joined.tensors[0]};
                joined.output = joined.tensors[0];
              }),
              ::testing::HasSubstr("buffer 'x' is written, but is an input"));
  EXPECT_THAT(message([](Plan& plan, Concatenate& joined) {
                joined.tensors = {2};
                joined.output = 2;
                EXPECT_EQ(plan.buffer(2).name, "made");
              }),
              ::testing::HasSubstr("buffer 'made' is read and written by one line"));
}

// The index of the first line of RoutedPlan() with this text.
int LineOf(const Plan& plan, const std::string& text) {
  for (size_t i = 0; i < plan.lines.size(); ++i) {
    if (plan.LineText(plan.lines[i]) == text) return static_cast<int>(i);
  }
  ADD_FAILURE() << text;
  return 0;
}

int BufferOf(const Plan& plan, const std::string& name) {
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    if (plan.buffers[i].name == name) return static_cast<int>(i);
  }
  ADD_FAILURE() << name;
  return 0;
}

TEST(VerifyPlanTest, SubgraphsAndConditionals) {
  const auto at = [](Plan& p, const std::string& text) { return p.lines.begin() + LineOf(p, text); };
  const Damage damages[] = {
      // The structure.
      {[&](Plan& p) { p.lines.erase(at(p, "enter_subgraph then_0")); },
       "(extern_allocating layer_norm(x=hidden, weight=weight, bias=weight, eps=1e-05) -> pack0): a branch is a "
       "subgraph, but enter_subgraph is missing"},
      {[&](Plan& p) { p.lines.erase(at(p, "else")); }, "(enter_subgraph else_1): end_if is missing after a branch"},
      {[&](Plan& p) { p.lines.erase(at(p, "end_if")); }, "end_if is missing after a branch"},
      {[&](Plan& p) { p.lines.erase(at(p, "if is_normed")); }, "(else): is not after a branch of a conditional"},
      {[&](Plan& p) { p.lines.insert(at(p, "end_if"), Else{}); }, "(else): is the second else of a conditional"},
      {[&](Plan& p) { p.lines.insert(at(p, "end_if"), Comment{"between"}); }, "(# between): end_if is missing"},
      {[&](Plan& p) { p.lines.insert(p.lines.begin(), ExitSubgraph{}); },
       "line 0 (exit_subgraph): no subgraph is open"},
      {[&](Plan& p) { p.lines.insert(p.lines.begin(), EndIf{}); }, "line 0 (end_if): is not after a branch"},
      {[&](Plan& p) { p.lines.emplace_back(EnterSubgraph{"open"}); }, "subgraph 'open' is not closed"},
      {[&](Plan& p) { p.lines.emplace_back(If{2}); }, "a conditional is not closed"},
      {[&](Plan& p) {
         for (int i = 0; i < 17; ++i) p.lines.insert(p.lines.begin(), EnterSubgraph{"deep"});
       },
       "line 16 (enter_subgraph deep): at most 16 subgraphs can be nested"},
      // The predicate.
      {[&](Plan& p) { std::get<If>(*at(p, "if is_normed")).predicate = 0; },
       "(if x): buffer 'x' is f32[16, 32], but a predicate is bool or i32 of one element"},
      {[&](Plan& p) { p.buffers[2].sizes = {2}; }, "buffer 'is_normed' is bool[2], but a predicate is"},
      {[&](Plan& p) { std::get<If>(*at(p, "if is_normed")).predicate = 99; }, "no buffer 99"},
      {[&](Plan& p) { p.lines.insert(at(p, "if is_normed"), If{BufferOf(p, "out")}); },
       "(if out): buffer 'out' does not exist yet"},
      // Memory of a subgraph ends in it, and no other memory does.
      {[&](Plan& p) { p.lines.erase(at(p, "free_if_not_reused mixed")); },
       "buffer 'mixed' is made in subgraph 'else_0', but never freed there"},
      {[&](Plan& p) { p.lines.insert(at(p, "free_if_not_reused mixed"), Free{BufferOf(p, "hidden")}); },
       "(free hidden): buffer 'hidden' is made outside subgraph 'else_0' and cannot end in it"},
      {[&](Plan& p) {
         *at(p, "allocate sharp f32[16, 32]") = Reuse{BufferOf(p, "routed_rows"), BufferOf(p, "sharp")};
       },
       "buffer 'routed_rows' is made outside subgraph 'else_0' and cannot end in it"},
      {[&](Plan& p) {
         const Line line = *at(p, "unpack pack0[1] as mean f32[16]");
         p.lines.erase(at(p, "unpack pack0[1] as mean f32[16]"));
         p.lines.insert(at(p, "enter_subgraph then_1") + 1, line);
       },
       "pack 'pack0' is made outside subgraph 'then_1'"},
      {[&](Plan& p) { p.outputs = {BufferOf(p, "columns")}; }, "output: buffer 'columns' was freed"},
      {[&](Plan& p) {
         const int view = static_cast<int>(p.buffers.size());
         p.buffers.push_back(p.buffer(BufferOf(p, "turned")));
         p.buffers.back().name = "inner";
         p.lines.insert(at(p, "free_if_not_reused mixed"),
                        Reinterpret{.view = view, .base = BufferOf(p, "routed_rows")});
         std::get<CallKernel>(*at(p, "call softmax_1(x=turned) -> out=columns")).call.arguments = {view};
       },
       "buffer 'inner' ended with subgraph 'else_0'"},
      {[&](Plan& p) {
         const Line line = *at(p, "define softmax: softmax x=16x32:f32");
         p.lines.erase(at(p, "define softmax: softmax x=16x32:f32"));
         p.lines.insert(at(p, "enter_subgraph then_1") + 1, line);
       },
       "is in subgraph 'then_1'; kernels are defined outside subgraphs"},
  };
  ASSERT_TRUE(VerifyPlan(*RoutedPlan()).ok()) << VerifyPlan(*RoutedPlan());
  for (const Damage& damage : damages) {
    Plan plan = *RoutedPlan();
    damage.make(plan);
    const absl::Status status = VerifyPlan(plan);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << damage.message;
    EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr(damage.message));
    EXPECT_THAT(std::string(status.message()), ::testing::StartsWith("plan 'routed': "));
  }
}

}  // namespace
}  // namespace telemetry::worker::wrapper
