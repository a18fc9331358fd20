#include "worker/wrapper/file/plan_file.h"

#include <cstdio>
#include <fstream>
#include <map>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/worker/wrapper/sample_plans.h"
#include "worker/wrapper/memory_plan.h"

namespace telemetry::worker::wrapper::file {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string MessageOf(std::string_view json) {
  const absl::StatusOr<Plan> plan = ParsePlan(json);
  EXPECT_EQ(plan.status().code(), absl::StatusCode::kInvalidArgument) << json;
  return std::string(plan.status().message());
}

// Returns a file with these lines, whose inputs are x f32[4, 8] and n i32[4], and whose output is out.
std::string FileOf(const std::string& lines) {
  return absl::StrCat(R"({"name": "p", "inputs": [{"name": "x", "dtype": "f32", "sizes": [4, 8]},
    {"name": "n", "dtype": "i32", "sizes": [4]}], "lines": [)",
                      lines, R"(], "outputs": ["out"]})");
}

TEST(PlanFileTest, TheSamplesAreThePlansThatCppBuilds) {
  const std::map<std::string, absl::StatusOr<Plan>> built = {
      {"attention", AttentionPlan()},    {"gated_mlp", GatedMlpPlan()}, {"layer_norm", LayerNormPlan()},
      {"normed_loss", NormedLossPlan()}, {"routed", RoutedPlan()},      {"strided_softmax", StridedSoftmaxPlan()}};
  ASSERT_EQ(SamplePlans().size(), built.size());
  for (const auto& [name, plan] : built) {
    const absl::StatusOr<Plan> read = FindPlan(name);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(read->DebugString(), plan->DebugString());
  }
}

TEST(PlanFileTest, HasNumbersConfigsAndReleases) {
  const absl::StatusOr<Plan> plan = ParsePlan(FileOf(
      R"json({"call": "softmax", "arguments": ["x"], "outputs": ["a"], "config": "Config(num_warps=8)"},
         {"call": "rms_norm", "arguments": ["a", "w"], "outputs": ["out"], "numbers": {"eps": 1e-3}},
         {"release": "a"})json"));
  EXPECT_THAT(std::string(plan.status().message()),
              HasSubstr("lines[1].arguments[1]: no buffer 'w' before this place"));
  const absl::StatusOr<Plan> right = ParsePlan(FileOf(
      R"json({"call": "softmax", "arguments": ["x"], "outputs": ["a"], "config": "Config(num_warps=8)"
  },
         {"allocate": "out", "dtype": "f32", "sizes": [4, 8]},
         {"extern": "softmax", "arguments": ["a"], "into": ["out"]},
         {"release": "a"}, {"comment": "the end"})json"));
  ASSERT_TRUE(right.ok()) << right.status();
  EXPECT_EQ(right->DebugString(),
            "plan p\n"
            "input x f32[4, 8]\n"
            "input n i32[4]\n"
            "define softmax: softmax x=4x8:f32 Config(num_warps=8)\n"
            "allocate a f32[4, 8]\n"
            "call softmax(x=x) -> out=a\n"
            "allocate out f32[4, 8]\n"
            "define softmax_1: softmax x=4x8:f32\n"
            "extern softmax_1(x=a) -> out=out\n"
            "free_if_not_reused a\n"
            "# the end\n"
            "output out\n");
}

TEST(PlanFileTest, RowsAreWrittenAndAddedTo) {
  const std::string made = R"({"call": "exp", "arguments": ["x"], "outputs": ["out"]},)";
  const absl::StatusOr<Plan> plan =
      ParsePlan(FileOf(made + R"({"index_put": "out", "indices": "n", "values": "x", "accumulate": true},
                                {"index_put": "out", "indices": "n", "values": "x"})"));
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_THAT(plan->DebugString(), HasSubstr("index_put out[n] += x\nindex_put out[n] = x\n"));
  EXPECT_EQ(MessageOf(FileOf(made + R"({"index_put": "out", "indices": "n", "values": "x", "accumulate": 1})")),
            "lines[1].accumulate: expected true or false");
  EXPECT_THAT(MessageOf(FileOf(made + R"({"index_put": "out", "indices": "x", "values": "x"})")),
              HasSubstr("lines[1]: plan 'p': index_put: buffer 'x' is f32[4, 8], but the indices have to be i32"));
  EXPECT_THAT(MessageOf(FileOf(made + R"({"index_put": "out", "values": "x"})")), HasSubstr("lines[1].indices: "));
}

TEST(PlanFileTest, ElementsAreWrittenAndCombined) {
  const auto file = [](const std::string& scatter) {
    return absl::StrCat(R"({"name": "p", "inputs": [{"name": "x", "dtype": "f32", "sizes": [4, 8]},
      {"name": "i", "dtype": "i32", "sizes": [4, 8]}], "symbols": {"d": {"default": 1, "min": 0}},
      "lines": [{"call": "exp", "arguments": ["x"], "outputs": ["out"]}, )",
                        scatter, R"(], "outputs": ["out"]})");
  };
  const absl::StatusOr<Plan> plan =
      ParsePlan(file(R"({"scatter": "out", "dimension": "d", "indices": "i", "values": "x"},
                        {"scatter": "out", "dimension": 0, "indices": "i", "values": "x", "reduce": "amin"})"));
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_THAT(plan->DebugString(), HasSubstr("scatter out[i] dimension 1 = x\nscatter out[i] dimension 0 amin = x\n"));
  EXPECT_THAT(MessageOf(file(R"({"scatter": "out", "indices": "i", "values": "x"})")),
              HasSubstr("lines[1].dimension: "));
  EXPECT_EQ(MessageOf(file(R"({"scatter": "out", "dimension": 4294967296, "indices": "i", "values": "x"})")),
            "lines[1].dimension: no such dimension");
  EXPECT_EQ(MessageOf(file(R"({"scatter": "out", "dimension": 0, "indices": "i", "values": "x", "reduce": "any"})")),
            "lines[1].reduce: expected sum, prod, amax, amin or mean");
  const absl::StatusOr<Plan> with_number =
      ParsePlan(file(R"({"scatter": "out", "dimension": 0, "indices": "i", "values": -0.5, "reduce": "mean"})"));
  ASSERT_TRUE(with_number.ok()) << with_number.status();
  EXPECT_THAT(with_number->DebugString(), HasSubstr("scatter out[i] dimension 0 mean = -0.5\n"));
  EXPECT_EQ(MessageOf(file(R"({"scatter": "out", "dimension": 0, "indices": "i", "values": 1e39})")),
            "lines[1]: plan 'p': scatter: the number inf is no finite f32");
  EXPECT_THAT(MessageOf(file(R"({"scatter": "out", "dimension": 0, "indices": "i", "values": true})")),
              HasSubstr("lines[1].values: "));
  EXPECT_EQ(
      MessageOf(file(R"({"scatter": "out", "dimension": 0, "indices": "x", "values": "x"})")),
      "lines[1]: plan 'p': scatter: buffer 'x' is f32[4, 8], but the indices have to be i32 with as many dimensions "
      "as the target");
}

TEST(PlanFileTest, TensorsAreJoined) {
  const absl::StatusOr<Plan> plan = ParsePlan(FileOf(
      R"({"concatenate": ["x", "x"], "dimension": 1, "outputs": ["out"]}, {"allocate": "n2", "dtype": "i32", "sizes": [8]},
         {"concatenate": ["n", "n"], "dimension": 0, "into": ["n2"]})"));
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_THAT(plan->DebugString(), HasSubstr("allocate out f32[4, 16]\nconcatenate [x, x] dimension 1 -> out\n"));
  EXPECT_THAT(plan->DebugString(), HasSubstr("concatenate [n, n] dimension 0 -> n2\n"));
  EXPECT_EQ(MessageOf(FileOf(R"({"concatenate": ["x"], "dimension": 0})")),
            "lines[0]: expected one name in 'outputs', that of a new buffer, or in 'into', the buffer to write");
  EXPECT_EQ(MessageOf(FileOf(R"({"concatenate": ["x"], "dimension": 8, "outputs": ["out"]})")),
            "lines[0].dimension: no such dimension");
  EXPECT_EQ(MessageOf(FileOf(R"({"concatenate": ["x", "n"], "dimension": 0, "outputs": ["out"]})")),
            "lines[0]: plan 'p': concatenate: buffer 'n' is i32[4], but 'x' is f32[4, 8]: only dimension 0 can differ");
}

// Returns a file with these lines, an input flag i32[1], and a buffer out.
std::string ConditionalFile(const std::string& lines) {
  return absl::StrCat(R"({"name": "p", "inputs": [{"name": "x", "dtype": "f32", "sizes": [4, 8]},
    {"name": "flag", "dtype": "i32", "sizes": [1]}],
    "lines": [{"allocate": "out", "dtype": "f32", "sizes": [4, 8]}, )",
                      lines, R"(], "outputs": ["out"]})");
}

TEST(PlanFileTest, ConditionalsAndSubgraphs) {
  const std::string exp = R"({"call": "exp", "arguments": ["x"], "into": ["out"]})";
  const absl::StatusOr<Plan> plan = ParsePlan(ConditionalFile(
      absl::StrCat(R"({"if": "flag", "then": [)", exp, R"(, {"subgraph": "inner", "lines": []}], "else": []},
                      {"if": "flag", "then": []})")));
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_THAT(plan->DebugString(), HasSubstr("if flag\n"
                                             "enter_subgraph then_0\n"
                                             "call exp(x=x) -> out=out\n"
                                             "enter_subgraph inner\n"
                                             "exit_subgraph\n"
                                             "exit_subgraph\n"
                                             "else\n"
                                             "enter_subgraph else_0\n"
                                             "exit_subgraph\n"
                                             "end_if\n"
                                             "if flag\n"
                                             "enter_subgraph then_1\n"
                                             "exit_subgraph\n"
                                             "end_if\n"));
}

TEST(PlanFileTest, MistakesInConditionals) {
  const auto message = [](const std::string& lines) { return MessageOf(ConditionalFile(lines)); };
  EXPECT_EQ(message(R"({"if": "flag"})"), "lines[1].then: missing; expected an array of lines");
  EXPECT_EQ(message(R"({"if": "flag", "then": {}})"), "lines[1].then: expected an array");
  EXPECT_EQ(message(R"({"if": "flag", "then": [], "otherwise": []})"),
            "lines[1]: unknown member 'otherwise'; known are if, then, else");
  EXPECT_EQ(message(R"({"if": "flags", "then": []})"), "lines[1].if: no buffer 'flags' before this place");
  EXPECT_EQ(message(R"({"if": "x", "then": []})"),
            "lines[1]: plan 'p': if: buffer 'x' is f32[4, 8], but a predicate is bool or i32 of one element");
  EXPECT_EQ(message(R"({"if": "flag", "then": [], "else": [{"free": "out"}]})"),
            "lines[1].else[0]: plan 'p': free: buffer 'out' is made outside subgraph 'else_0' and cannot end in it");
  EXPECT_EQ(message(R"({"if": "flag", "then": [{"call": "exp", "arguments": ["x"], "outputs": ["a"]}]},
                       {"call": "exp", "arguments": ["a"], "into": ["out"]})"),
            "lines[2]: plan 'p': kernel 'exp', argument 'x': buffer 'a' ended with subgraph 'then_0'");
  EXPECT_EQ(message(R"({"subgraph": "s"})"), "lines[1].lines: missing; expected an array of lines");
  std::string nested = R"({"if": "flag", "then": [])";
  for (int i = 1; i < 16; ++i) nested = absl::StrCat(R"({"if": "flag", "then": [)", nested, "}]");
  EXPECT_TRUE(ParsePlan(ConditionalFile(absl::StrCat(nested, "}"))).ok());
  EXPECT_THAT(message(absl::StrCat(R"({"subgraph": "s", "lines": [)", nested, "}]}")),
              HasSubstr("then_15': at most 16 subgraphs can be nested"));
  std::string comments = R"({"comment": ""})";
  for (int i = 0; i < 499; ++i) absl::StrAppend(&comments, R"(, {"comment": ""})");
  EXPECT_EQ(message(absl::StrCat(R"({"if": "flag", "then": [)", comments, R"(], "else": [)", comments, "]}")),
            "lines[1].else: the plan has more than 1000 lines");
}

// Returns a file with the symbols of `symbols` and an input of these sizes.
std::string SymbolFile(const std::string& symbols, const std::string& sizes) {
  return absl::StrCat(R"({"name": "p", "symbols": )", symbols,
                      R"(, "inputs": [{"name": "x", "dtype": "f32", "sizes": )", sizes,
                      R"(}], "lines": [{"call": "exp", "arguments": ["x"], "outputs": ["out"]}],
                      "outputs": ["out"]})");
}

TEST(PlanFileTest, SizesStridesAndOffsetsAreExpressionsOfSymbols) {
  const std::string json =
      R"({"name": "p", "symbols": {"m": {"default": 8}, "n_2": {"default": 4, "min": 2, "max": 64}},
    "inputs": [{"name": "x", "dtype": "f32", "sizes": ["2 * m", "n_2"], "strides": ["n_2 + 3", 1]}],
    "lines": [{"call": "exp", "arguments": ["x"], "outputs": ["y"]},
              {"view": "half", "of": "y", "sizes": ["m", "n_2"], "strides": ["n_2", 1], "offset": "m * n_2"},
              {"allocate": "out", "dtype": "f32", "sizes": ["m", "n_2"]},
              {"call": "exp", "arguments": ["half"], "into": ["out"]}], "outputs": ["out"]})";
  const absl::StatusOr<Plan> plan = ParsePlan(json);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_THAT(plan->DebugString(),
              AllOf(HasSubstr("input x f32[16, 4] strides [7, 1]"),
                    HasSubstr("view half of y: [8, 4] strides [4, 1] offset 32"), HasSubstr("allocate out f32[8, 4]")));
  const absl::StatusOr<Plan> larger = ParsePlan(json, {{"n_2", 64}, {"m", 1000}});
  ASSERT_TRUE(larger.ok()) << larger.status();
  EXPECT_THAT(larger->DebugString(), HasSubstr("view half of y: [1000, 64] strides [64, 1] offset 64000"));
  EXPECT_EQ(std::string(ParsePlan(json, {{"n_2", 65}}).status().message()),
            "symbol 'n_2' is 65, but must be from 2 to 64");
  EXPECT_EQ(std::string(ParsePlan(json, {{"n_2", 1}}).status().message()),
            "symbol 'n_2' is 1, but must be from 2 to 64");
  EXPECT_EQ(std::string(ParsePlan(json, {{"k", 1}}).status().message()), "no symbol 'k'; the plan has m, n_2");
  EXPECT_EQ(std::string(FindPlan("gated_mlp", {{"k", 1}}).status().message()), "no symbol 'k'; the plan has none");
}

// Every sample plan at three shapes: memory planning for all sizes gives the same lines, and never a higher peak.
TEST(PlanFileTest, SamplesArePlannedForAllSizes) {
  int with_symbols = 0;
  int with_reuse = 0;
  for (const SamplePlan& sample : SamplePlans()) {
    std::string reuses;
    for (const int64_t factor : {1, 2, 5}) {
      const Plan given = *ParsePlan(sample.json);
      SymbolValues sizes;
      for (const PlanSymbol& symbol : given.symbols) {
        if (symbol.name[0] != '(') sizes[symbol.name] = symbol.value * factor;
      }
      const absl::StatusOr<Plan> plan = ParsePlan(sample.json, sizes);
      ASSERT_TRUE(plan.ok()) << plan.status();
      const absl::StatusOr<MemoryPlan> planned = PlanMemory(*plan, MemoryScope::kAllSizes);
      ASSERT_TRUE(planned.ok()) << planned.status();
      EXPECT_LE(planned->peak_bytes_after, planned->peak_bytes_before);
      std::string found;
      for (const Line& line : planned->plan.lines) {
        const auto* reuse = std::get_if<Reuse>(&line);
        if (reuse != nullptr)
          found += planned->plan.buffer(reuse->from).name + "->" + planned->plan.buffer(reuse->to).name + " ";
      }
      if (factor == 1) reuses = found;
      EXPECT_EQ(found, reuses) << sample.name;
      with_symbols += plan->symbols.empty() ? 0 : 1;
      with_reuse += found.empty() ? 0 : 1;
    }
  }
  EXPECT_GE(with_symbols, 6);
  EXPECT_GE(with_reuse, 3);
}

// Scores and result of attention are alike only for some sizes: their memory is not shared for all.
TEST(PlanFileTest, SizesThatAreEqualByChanceAreNotEqualForAll) {
  const Plan plan = *FindPlan("attention");
  EXPECT_THAT(PlanMemory(plan)->plan.DebugString(), HasSubstr("\nreuse "));
  EXPECT_THAT(PlanMemory(plan, MemoryScope::kAllSizes)->plan.DebugString(), Not(HasSubstr("reuse scores as out")));
}

TEST(PlanFileTest, SizesHaveForms) {
  const auto text_of = [](const Plan& plan) {
    std::string text;
    for (const PlanBuffer& buffer : plan.buffers) {
      for (size_t i = 0; i < buffer.sizes.size(); ++i) text += buffer.FormOf(i).ToString(plan.symbols) + ", ";
    }
    return text;
  };
  const absl::StatusOr<Plan> plan =
      ParsePlan(R"json({"name": "p", "symbols": {"n": {"default": 6, "max": 60}, "m": {"default": 4}},
    "inputs": [{"name": "x", "dtype": "f32", "sizes": ["2 * n + 1", "m"]}, {"name": "y", "dtype": "f32", "sizes": ["n // 2", "m"]},
               {"name": "z", "dtype": "f32", "sizes": ["n // 2", "m"]}, {"name": "w", "dtype": "f32", "sizes": ["(n - 1) * n", 4]}],
    "lines": [{"call": "softmax", "arguments": ["x"], "outputs": ["rows"]},
              {"concatenate": ["rows", "y"], "dimension": 0, "outputs": ["joined"]},
              {"call": "sum", "arguments": ["joined"], "outputs": ["out"]}], "outputs": ["out"]})json");
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(text_of(*plan),
            "2 * n + 1, m, (n // 2), m, (n // 2), m, n * n - n, 4, 2 * n + 1, m, (n // 2) + 2 * n + 1, m, (n // 2) + 2 "
            "* n + 1, ");
  ASSERT_EQ(plan->symbols.size(), 3u);
  EXPECT_EQ(plan->symbols[0].max, 60);
  EXPECT_EQ(plan->symbols[2].value, 3);
  EXPECT_TRUE(PlanMemory(*plan, MemoryScope::kAllSizes).ok());
}

TEST(PlanFileTest, MistakesInSymbols) {
  const std::string n = R"({"n": {"default": 4}})";
  EXPECT_TRUE(ParsePlan(SymbolFile(n, R"(["n", "n if n > 2 else 1"])")).ok());
  EXPECT_EQ(MessageOf(SymbolFile(n, R"(["n", "3 - n"])")), "inputs[0].sizes[1]: must not be negative");
  EXPECT_EQ(MessageOf(SymbolFile(n, R"(["n", "n / 2"])")), "inputs[0].sizes[1]: the expression gives no integer");
  EXPECT_THAT(MessageOf(SymbolFile(n, R"(["n", "n // 0"])")), HasSubstr("inputs[0].sizes[1]: "));
  EXPECT_THAT(MessageOf(SymbolFile(n, R"(["n", "m"])")), AllOf(HasSubstr("inputs[0].sizes[1]: "), HasSubstr("'m'")));
  EXPECT_EQ(MessageOf(SymbolFile(n, absl::StrCat(R"(["n", ")", std::string(201, '1'), R"("])"))),
            "inputs[0].sizes[1]: an expression has at most 200 bytes");
  EXPECT_EQ(MessageOf(SymbolFile(R"({"n": {"default": 4, "max": 3}})", "[1, 1]")),
            "symbols.n: expected 0 <= min <= default <= max <= 2^40");
  EXPECT_EQ(MessageOf(SymbolFile(R"({"n": {"value": 4}})", "[1, 1]")),
            "symbols.n: unknown member; known are default, min, max");
  EXPECT_THAT(MessageOf(SymbolFile(R"({"n": {}})", "[1, 1]")), HasSubstr("symbols.n.default: "));
  EXPECT_EQ(MessageOf(SymbolFile(R"({"n": {"default": 4}, "n": {"default": 4}})", "[1, 1]")),
            "symbols: two symbols 'n'");
  EXPECT_THAT(MessageOf(SymbolFile(R"({"2n": {"default": 4}})", "[1, 1]")), HasSubstr("symbols: the name of a symbol"));
  // The expressions of a file share one budget.
  EXPECT_THAT(MessageOf(SymbolFile(n, R"json(["n", "sum([sum([j for j in range(900)]) for i in range(900)])"])json")),
              HasSubstr("inputs[0].sizes[1]: "));
}

TEST(PlanFileTest, ErrorsNameThePlace) {
  EXPECT_THAT(MessageOf("{\"name\": }"), HasSubstr("at byte "));
  EXPECT_EQ(MessageOf("[]"), "expected an object");
  EXPECT_THAT(MessageOf(R"({"nam": "p"})"),
              HasSubstr("unknown member 'nam'; known are name, symbols, inputs, lines, outputs"));
  EXPECT_EQ(MessageOf(R"({"name": "a b"})"), "name: a name has 1 to 100 characters: letters, digits, '_', '-' and '.'");
  EXPECT_EQ(MessageOf(R"({"name": "p", "name": "p"})"), "two members 'name'");
  EXPECT_THAT(MessageOf(R"({"name": "p", "inputs": [{"name": "x", "dtype": "f64", "sizes": [1]}]})"),
              HasSubstr("inputs[0].dtype: "));
  EXPECT_EQ(MessageOf(R"({"name": "p", "inputs": [{"name": "x", "dtype": "f32", "sizes": [-1]}]})"),
            "inputs[0].sizes[0]: must not be negative");
  EXPECT_EQ(MessageOf(R"({"name": "p", "inputs": [{"name": "x", "dtype": "f32"}]})"),
            "inputs[0].sizes: missing; expected an array of integers or expressions");
  EXPECT_EQ(MessageOf(R"({"name": "p", "lines": []})"), "outputs: missing or empty; expected the names of buffers");
  EXPECT_EQ(MessageOf(FileOf(R"({"comment": "nothing"})")), "outputs[0]: no buffer 'out' before this place");
  EXPECT_EQ(MessageOf(FileOf(R"({"calls": "exp"})")),
            "lines[0]: a line has one of the members call, extern, extern_allocating, spec, view, index_put, scatter, "
            "concatenate, "
            "if, subgraph, allocate, free, release, comment");
  EXPECT_THAT(MessageOf(FileOf(R"({"call": "softmx", "arguments": ["x"], "outputs": ["out"]})")),
              AllOf(HasSubstr("lines[0]: plan 'p': "), HasSubstr("softmax")));
  EXPECT_THAT(MessageOf(FileOf(R"({"call": "softmax", "arguments": ["n"], "outputs": ["out"]})")),
              HasSubstr("lines[0]: plan 'p': kernel 'softmax', argument 'x': buffer 'n' is i32[4], but "));
  EXPECT_THAT(MessageOf(FileOf(R"({"call": "softmax", "arguments": ["x"], "outputs": ["out", "more"]})")),
              HasSubstr("has 1 outputs, but 2 names are given"));
  EXPECT_THAT(MessageOf(FileOf(R"({"call": "softmax", "arguments": ["x"]})")),
              HasSubstr("lines[0]: a call has either 'outputs', names of new buffers, or 'into', buffers to write"));
  EXPECT_THAT(MessageOf(FileOf(R"({"call": "softmax", "extern": "softmax", "arguments": ["x"], "outputs": ["out"]})")),
              HasSubstr("lines[0]: unknown member 'extern'"));
  EXPECT_THAT(MessageOf(FileOf(R"({"call": "softmax", "arguments": ["x"], "outputs": ["out"], "config": "Conf"})")),
              HasSubstr("lines[0].config: "));
  EXPECT_THAT(
      MessageOf(FileOf(R"({"call": "softmax", "arguments": ["x"], "outputs": ["out"], "numbers": {"eps": 1}})")),
      HasSubstr("kernel 'softmax' has no number 'eps'"));
  EXPECT_THAT(
      MessageOf(FileOf(R"({"call": "softmax", "arguments": ["x"], "outputs": ["out"], "numbers": {"eps": "1"}})")),
      HasSubstr("lines[0].numbers.eps: expected a number"));
  EXPECT_THAT(MessageOf(FileOf(R"({"view": "v", "of": "x", "sizes": [9], "strides": [4]})")),
              HasSubstr("lines[0]: plan 'p': view 'v': shows elements 0 to "));
  EXPECT_THAT(MessageOf(FileOf(R"({"free": "x"})")), HasSubstr("lines[0]: plan 'p': free: buffer 'x' is an input"));
  EXPECT_THAT(MessageOf(R"({"name": "p", "inputs": [{"name": "x", "dtype": "f32", "sizes": [4]}], "outputs": ["x"]})"),
              HasSubstr("outputs[0]: plan 'p': output: buffer 'x' is an input"));
}

TEST(PlanFileTest, IsBounded) {
  std::string inputs;
  for (int i = 0; i < 257; ++i) {
    absl::StrAppend(&inputs, i == 0 ? "" : ",", R"({"name": "x)", i, R"(", "dtype": "f32", "sizes": [1]})");
  }
  EXPECT_EQ(MessageOf(absl::StrCat(R"({"name": "p", "inputs": [)", inputs, "]}")),
            "inputs: 257 items; at most 256 are allowed");
  std::string lines = R"({"comment": ""})";
  for (int i = 0; i < 1000; ++i) absl::StrAppend(&lines, R"(, {"comment": ""})");
  EXPECT_EQ(MessageOf(FileOf(lines)), "lines: 1001 items; at most 1000 are allowed");
  EXPECT_EQ(MessageOf(R"({"name": "p", "inputs": [{"name": "x", "dtype": "f32", "sizes": [1,1,1,1,1,1,1,1,1]}]})"),
            "inputs[0].sizes: 9 items; at most 8 are allowed");
  EXPECT_THAT(
      MessageOf(R"({"name": "p", "inputs": [{"name": "x", "dtype": "f32", "sizes": [9223372036854775807, 3]}]})"),
      HasSubstr("inputs[0]: plan 'p': "));
  EXPECT_THAT(MessageOf(R"({"name": "p", "inputs": [{"name": "x", "dtype": "f32", "sizes": [9223372036854775808]}]})"),
              HasSubstr("is not an integer of 64 bits"));
  EXPECT_THAT(MessageOf(std::string(300, '[') + std::string(300, ']')), HasSubstr("nest"));
  EXPECT_THAT(MessageOf(std::string(PlanFileLimits::kFileBytes + 1, ' ')), HasSubstr("at most 1048576 are allowed"));
  EXPECT_THAT(MessageOf(absl::StrCat(R"({"name": ")", std::string(101, 'a'), R"("})")), HasSubstr("name: a name has"));
  EXPECT_LT(MessageOf(absl::StrCat(R"({")", std::string(100000, 'a'), R"(": 1})")).size(), 200u);
}

TEST(PlanFileTest, FilesThatCannotBeRead) {
  const absl::StatusOr<Plan> missing = FindPlan("no/such.json");
  EXPECT_EQ(missing.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(missing.status().message()),
              AllOf(HasSubstr("no/such.json"), HasSubstr("are attention, gated_mlp, layer_norm, ")));
  const std::string path = ::testing::TempDir() + "/plan_file_test.json";
  std::ofstream(path) << R"({"name": 1})";
  EXPECT_EQ(std::string(ReadPlan(path).status().message()), path + ": name: expected a string");
  std::remove(path.c_str());
}

}  // namespace
}  // namespace telemetry::worker::wrapper::file
