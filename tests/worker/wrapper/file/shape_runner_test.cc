// Tests of plans that are read once and run at many shapes.

#include "worker/wrapper/file/shape_runner.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/paths.h"
#include "tests/worker/wrapper/plan_outputs.h"
#include "tests/worker/wrapper/random_plan.h"
#include "worker/wrapper/file/plan_file.h"

namespace telemetry::worker::wrapper::file {
namespace {

using runtime::Tensor;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::Ge;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::Lt;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

std::string DecidedPath() { return TestdataDir() + "/../worker/wrapper/file/decided.json"; }
// Returns a plan with conditionals that the number of rows decides.
std::shared_ptr<const SymbolicPlan> Decided() { return *SymbolicPlan::Read(DecidedPath()); }

std::string MessageOf(const absl::Status& status) {
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  return std::string(status.message());
}

class ShapeRunnerTest : public ::testing::Test {
 protected:
  // Returns inputs of a shape, on the device of the test.
  std::vector<Tensor> Inputs(const SymbolicPlan& plan, const SymbolValues& sizes) const {
    std::vector<Tensor> inputs = MakeInputs(*plan.At(sizes), 1);
    for (Tensor& input : inputs) input = *runtime::ToDevice(device_, *input.host);
    return inputs;
  }

  // Returns the outputs of a runner of this shape alone.
  std::vector<ir::HostArray> Alone(const SymbolicPlan& plan, const SymbolValues& sizes) const {
    const Plan of_shape = *plan.At(sizes);
    return PlanOutputs(of_shape, device_, MakeInputs(of_shape, 1));
  }

  const std::shared_ptr<device::Device> device_ = TestDevice();
};

// A label out of range makes cross_entropy read memory before or behind the logits, which can be anything, or nothing.
TEST(MakeInputsTest, LabelsAreInRange) {
  const Plan plan = *FindPlan("normed_loss");
  std::vector<double> labels;
  for (const uint64_t seed : {1, 2, 3, 4}) {
    const std::vector<Tensor> inputs = MakeInputs(plan, seed);
    labels.insert(labels.end(), inputs[3].host->data.begin(), inputs[3].host->data.end());
  }
  EXPECT_EQ(labels.size(), 64u);
  EXPECT_THAT(labels, Each(AllOf(Ge(0), Lt(48))));
  EXPECT_THAT(labels, Contains(Gt(24)));
}

// The runs are queued one behind the other; then the outputs are those of runs with memory of their own.
TEST_F(ShapeRunnerTest, OnePlanServesManyShapes) {
  for (const MemoryScope scope : {MemoryScope::kTheseSizes, MemoryScope::kAllSizes}) {
    for (const SamplePlan& sample : SamplePlans()) {
      SCOPED_TRACE(std::string(sample.name));
      const std::shared_ptr<const SymbolicPlan> plan = *SymbolicPlan::Parse(sample.json);
      ShapeRunner runner(plan, device_, {.scope = scope});
      std::vector<SymbolValues> shapes(3);
      std::vector<std::vector<Tensor>> results;
      std::vector<int64_t> pool_bytes;
      for (const size_t factor : {1, 3, 2}) {
        SymbolValues& shape = shapes[factor - 1];
        for (const PlanSymbol& symbol : plan->symbols())
          shape[symbol.name] = symbol.value * static_cast<int64_t>(factor);
        const auto outputs = runner.Run(Inputs(*plan, shape));
        ASSERT_TRUE(outputs.ok()) << outputs.status();
        results.push_back(*outputs);
        pool_bytes.push_back(runner.pool_bytes());
      }
      EXPECT_EQ(pool_bytes[2], pool_bytes[1]);
      EXPECT_EQ(runner.runner_count(), plan->symbols().empty() ? 1u : 3u);
      EXPECT_TRUE(plan->symbols().empty() || pool_bytes[1] > pool_bytes[0]);
      for (const auto& [result, factor] : std::map<size_t, size_t>{{0, 1}, {1, 3}, {2, 2}}) {
        const std::vector<ir::HostArray> expected = Alone(*plan, shapes[factor - 1]);
        ASSERT_EQ(results[result].size(), expected.size());
        for (size_t i = 0; i < expected.size(); ++i) {
          EXPECT_EQ(ir::ToBytes(*ToHost(results[result][i])), ir::ToBytes(expected[i])) << "factor " << factor;
        }
      }
    }
  }
}

TEST_F(ShapeRunnerTest, ExpressionsOfSymbolsDecideConditionals) {
  const std::shared_ptr<const SymbolicPlan> plan = Decided();
  ShapeRunner runner(plan, device_);
  std::map<int64_t, std::string> calls;
  for (const int64_t rows : {8, 9, 64, 65, 80}) {
    const auto outputs = runner.Run(Inputs(*plan, {{"rows", rows}}));
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    EXPECT_EQ(ir::ToBytes(*ToHost((*outputs)[0])), ir::ToBytes(Alone(*plan, {{"rows", rows}})[0]));
    const Plan of_shape = *plan->At({{"rows", rows}});
    for (const Line& line : of_shape.lines) {
      if (AsKernelCall(line) != nullptr) calls[rows] += of_shape.CallName(line) + " ";
    }
  }
  EXPECT_EQ(calls, (std::map<int64_t, std::string>{{8, "exp add "},
                                                   {9, "exp add softmax "},
                                                   {64, "exp add "},
                                                   {65, "exp softmax add softmax_1 softmax "},
                                                   {80, "exp softmax add softmax_1 "}}));
}

TEST_F(ShapeRunnerTest, KeepsTheRunnersThatWereUsedLast) {
  const std::shared_ptr<const SymbolicPlan> plan = Decided();
  ShapeRunner runner(plan, device_, {.most_runners = 2});
  const auto at = [&](int64_t rows) { return *runner.RunnerAt({{"rows", rows}}); };
  const std::shared_ptr<PlanRunner> of_8 = at(8);
  EXPECT_EQ(*runner.RunnerAt({}), of_8);  // the defaults
  EXPECT_EQ(*runner.RunnerAt({{"columns", 32}, {"rows", 8}}), of_8);
  const std::shared_ptr<PlanRunner> of_16 = at(16);
  EXPECT_EQ(at(8), of_8);
  EXPECT_NE(at(24), of_16);
  EXPECT_EQ(runner.runner_count(), 2u);
  EXPECT_EQ(at(8), of_8);
  EXPECT_NE(at(16), of_16);
  // A runner that was dropped can still be used.
  EXPECT_TRUE(of_16->Run(Inputs(*plan, {{"rows", 16}})).ok());
}

TEST_F(ShapeRunnerTest, RunsOnTheHost) {
  const std::shared_ptr<const SymbolicPlan> plan = Decided();
  ShapeRunner runner(plan, nullptr);
  for (const int64_t rows : {4, 70}) {
    const std::vector<Tensor> inputs = MakeInputs(*plan->At({{"rows", rows}}), 1);
    const auto outputs = runner.Run(inputs);
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    EXPECT_EQ((*outputs)[0].host->data, PlanOutputs(*plan->At({{"rows", rows}}), nullptr, inputs)[0].data);
  }
  EXPECT_EQ(runner.pool_bytes(), 0);
}

TEST_F(ShapeRunnerTest, RefusesInputsThatDoNotFit) {
  const std::shared_ptr<const SymbolicPlan> plan = *SymbolicPlan::Find("attention");
  ShapeRunner runner(plan, device_);
  const std::vector<Tensor> inputs = Inputs(*plan, {});
  EXPECT_EQ(MessageOf(runner.Run({}).status()), "the plan has 3 inputs, but 0 are given");
  EXPECT_EQ(MessageOf(runner.Run(inputs, {{"keys", 48}}).status()),
            "symbol 'keys' is 48, but 32 in the sizes of the inputs");
  EXPECT_EQ(MessageOf(runner.Run(inputs, {{"heads", 48}}).status()),
            "no symbol 'heads'; the plan has batches, queries, keys, depth");
  std::vector<Tensor> other = inputs;
  other[1] = Inputs(*plan, {{"keys", 40}})[1];
  EXPECT_EQ(MessageOf(runner.Run(other).status()),
            "symbol 'keys' is 40 in dimension 2 of input 'k', but 32 in dimension 1 of input 'v'");
  other[1] = Inputs(*Decided(), {})[0];
  EXPECT_EQ(MessageOf(runner.Run(other).status()), "input 'k' has 3 dimensions, but 2 are given");

  ShapeRunner decided(Decided(), device_);
  EXPECT_EQ(MessageOf(decided.Run({Tensor::OnHost(ir::HostArray::Dense(device::DType::kF32, {1, 32}))}).status()),
            DecidedPath() + ": symbol 'rows' is 1, but must be from 2 to 4096");
  EXPECT_THAT(MessageOf(decided.Run({Tensor::OnHost(ir::HostArray::Dense(device::DType::kF32, {8, 32}))}).status()),
              HasSubstr("plan 'decided', input 'x' (f32[8, 32]): is "));
}

TEST(SymbolicPlanTest, HasTheSymbolsOfTheFileWithTheirDefaults) {
  const std::shared_ptr<const SymbolicPlan> plan = Decided();
  ASSERT_EQ(plan->symbols().size(), 2u);
  EXPECT_EQ(plan->symbols()[0].name, "rows");
  EXPECT_EQ(plan->symbols()[0].min, 2);
  EXPECT_EQ(plan->symbols()[0].max, 4096);
  EXPECT_EQ(plan->symbols()[0].value, 8);
  EXPECT_THAT(*plan->SizesOf({{20, 30}}), UnorderedElementsAre(Pair("rows", 20), Pair("columns", 30)));
}

TEST(SymbolicPlanTest, MistakesThatDependOnTheSizesAreThoseOfTheShape) {
  const auto at = [](const std::string& condition, const SymbolValues& sizes) {
    const auto plan = SymbolicPlan::Parse(absl::StrCat(
        R"({"name": "p", "symbols": {"n": {"default": 4, "min": 0}, "m": {"default": 4}},
            "inputs": [{"name": "x", "dtype": "f32", "sizes": ["n", 4]}, {"name": "m", "dtype": "i32", "sizes": [1]}],
            "lines": [{"allocate": "out", "dtype": "f32", "sizes": ["n", 4]}, {"if": )",
        condition, R"(, "then": [{"free": "nothing"}]}], "outputs": ["out"]})"));
    EXPECT_TRUE(plan.ok()) << plan.status();
    return std::string((*plan)->At(sizes).status().message());
  };
  EXPECT_EQ(at(R"("n > 4")", {}), "");
  EXPECT_EQ(at(R"("n > 4")", {{"n", 5}}), "lines[1].then[0].free: no buffer 'nothing' before this place");
  EXPECT_EQ(at(R"("n - 4")", {}), "");
  EXPECT_THAT(at(R"("n - 4")", {{"n", 3}}), HasSubstr("lines[1].then[0].free: "));
  EXPECT_EQ(at(R"("n")", {{"n", 0}}), "");
  EXPECT_THAT(at(R"("n")", {}), HasSubstr("lines[1].then[0].free: "));
  EXPECT_THAT(at(R"("m")", {}), HasSubstr("lines[1].then[0].free: "));  // the buffer
  EXPECT_EQ(at(R"("n / 3")", {}), "lines[1].if: the expression gives neither True, False nor an integer");
  EXPECT_THAT(at(R"("n > k")", {}), HasSubstr("lines[1].if: "));
  EXPECT_THAT(at(R"("n > k")", {}), HasSubstr("'k'"));
  EXPECT_EQ(at(R"("n // 0 > 1")", {}).substr(0, 13), "lines[1].if: ");
  EXPECT_EQ(at(R"("k")", {}), "lines[1].if: no buffer 'k' before this place");
  EXPECT_EQ(at("true", {}), "lines[1].if: expected a string");
  EXPECT_EQ(at(absl::StrCat("\"", std::string(300, '1'), " > n\""), {}),
            "lines[1].if: an expression has at most 200 bytes");
}

TEST(SymbolicPlanTest, TheBranchThatIsNotTakenIsAListOfLines) {
  const auto message = [](const std::string& branches) {
    const auto plan = SymbolicPlan::Parse(
        absl::StrCat(R"({"name": "p", "symbols": {"n": {"default": 4}}, "inputs": [{"name": "x", "dtype": "f32",
            "sizes": ["n", 4]}], "lines": [{"allocate": "out", "dtype": "f32", "sizes": ["n", 4]}, {"if": "n > 8")",
                     branches, R"(}], "outputs": ["out"]})"));
    return std::string((*plan)->At({}).status().message());
  };
  EXPECT_EQ(message(""), "lines[1].then: missing; expected an array of lines");
  EXPECT_EQ(message(R"(, "then": 3)"), "lines[1].then: expected an array");
  EXPECT_EQ(
      message(R"(, "then": [], "else": [{"call": "exp", "arguments": ["x"], "outputs": ["a"]}]}, {"release": "a")"),
      "lines[2]: plan 'p': free: buffer 'a' ended with subgraph 'else_of_sizes_0'");
}

}  // namespace
}  // namespace telemetry::worker::wrapper::file
