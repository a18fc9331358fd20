#include "worker/spec/constrained_space.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/record/strings.h"

namespace telemetry::worker::spec {
namespace {

using record::Cat;
using testing::HasSubstr;

using Parameters = std::vector<std::pair<std::string, std::string>>;  // names and lists

Specification Make(const Parameters& parameters, const std::vector<std::string>& conditions) {
  std::string json = R"({"ConfigurationSpace": {"TuningParameters": [)";
  for (size_t i = 0; i < parameters.size(); ++i) {
    json += Cat(i > 0 ? "," : "", R"({"Name": ")", parameters[i].first, R"(", "Type": "int", "Values": ")",
                parameters[i].second, R"("})");
  }
  json += R"(], "Conditions": [)";
  for (size_t i = 0; i < conditions.size(); ++i) {
    json += Cat(i > 0 ? "," : "", R"({"Parameters": [], "Expression": ")", conditions[i], R"("})");
  }
  json +=
      R"(]}, "KernelSpecification": {"Language": "CUDA", "KernelName": "k", "KernelFile": "k", "ProblemSize": [4096]}})";
  absl::StatusOr<Specification> spec = ParseSpecification(json, "spec.json");
  EXPECT_TRUE(spec.ok()) << spec.status();
  return *std::move(spec);
}

// Counts the configs that fulfil all constraints by trying each combination.
std::set<std::vector<size_t>> TryAll(const Specification& spec) {
  std::set<std::vector<size_t>> valid;
  std::vector<size_t> config(spec.parameters.size(), 0);
  while (true) {
    bool holds = true;
    for (const Constraint& constraint : spec.constraints) {
      Evaluation evaluation;
      holds = holds && constraint.expression.Evaluate(spec.ValuesAt(config), &evaluation)->Truth();
    }
    if (holds) valid.insert(config);
    size_t digit = 0;
    while (digit < config.size() && ++config[digit] == spec.parameters[digit].values.size()) config[digit++] = 0;
    if (digit == config.size()) return valid;
  }
}

TEST(ConstrainedSpaceTest, HasExactlyTheConfigsThatFulfilTheConstraints) {
  const Specification spec = Make({{"a", "range(1, 8)"},
                                   {"b", "range(1, 8)"},
                                   {"c", "[1, 2, 4]"},
                                   {"d", "[0, 1]"},
                                   {"e", "range(5)"},
                                   {"f", "range(4)"}},
                                  {"a * b <= 12", "b % c == 0", "e != f or e == 0", "problem_size_x == 4096"});
  const absl::StatusOr<ConstrainedSpace> space = ConstrainedSpace::Create(spec);
  ASSERT_TRUE(space.ok()) << space.status();
  const std::set<std::vector<size_t>> valid = TryAll(spec);
  EXPECT_EQ(space->size(), static_cast<int64_t>(valid.size()));
  std::set<std::vector<size_t>> seen;
  for (int64_t i = 0; i < space->size(); ++i) {
    const std::vector<size_t> config = space->ConfigAt(i);
    EXPECT_EQ(space->Find(config), i);
    seen.insert(config);
  }
  EXPECT_EQ(seen, valid);
}

TEST(ConstrainedSpaceTest, DoesNotFindConfigsThatViolateAConstraint) {
  const Specification spec = Make({{"a", "range(6)"}, {"b", "range(6)"}}, {"(a + b) % 3 == 1"});
  const absl::StatusOr<ConstrainedSpace> space = ConstrainedSpace::Create(spec);
  ASSERT_TRUE(space.ok()) << space.status();
  for (size_t a = 0; a < 6; ++a) {
    for (size_t b = 0; b < 6; ++b) EXPECT_EQ(space->Find({a, b}).has_value(), (a + b) % 3 == 1) << a << " " << b;
  }
}

TEST(ConstrainedSpaceTest, IndependentParametersCostNothing) {
  Parameters parameters;
  for (int i = 0; i < 15; ++i) parameters.emplace_back(Cat("p", i), "range(10)");
  const Specification spec = Make(parameters, {"p0 < p1"});
  const absl::StatusOr<ConstrainedSpace> space = ConstrainedSpace::Create(spec);
  ASSERT_TRUE(space.ok()) << space.status();
  EXPECT_EQ(space->size(), int64_t{450'000'000'000'000});
  EXPECT_LT(space->memory_bytes(), 1000u);
  for (const int64_t index : {int64_t{0}, int64_t{123'456'789'012'345}, space->size() - 1}) {
    EXPECT_EQ(space->Find(space->ConfigAt(index)), index);
  }
}

// Enumerates 10^7 / `divisor` combinations that two constraints connect. The whole size has a test of its own, which
// TELEMETRY_SPACE=1 enables.
int64_t EnumerateProduct(int divisor) {
  Parameters parameters;
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) parameters.emplace_back(name, "range(1, 11)");
  parameters.emplace_back("g", Cat("range(", 10 / divisor, ")"));
  const Specification spec = Make(parameters, {"a * b * c * d + e + f + g <= 100000", "a <= 10 or b == 1"});
  const absl::StatusOr<ConstrainedSpace> space = ConstrainedSpace::Create(spec);
  EXPECT_TRUE(space.ok()) << space.status();
  EXPECT_LT(space->memory_bytes(), size_t{256} << 20);
  return space->size();
}

TEST(ConstrainedSpaceTest, EnumeratesAMillionConfigs) { EXPECT_EQ(EnumerateProduct(10), 1'000'000); }

TEST(ConstrainedSpaceTest, EnumeratesTenMillionConfigs) {
  if (getenv("TELEMETRY_SPACE") == nullptr) GTEST_SKIP() << "set TELEMETRY_SPACE=1";
  const absl::Time begin = absl::Now();
  EXPECT_EQ(EnumerateProduct(1), 10'000'000);
  EXPECT_LT(absl::Now() - begin, absl::Seconds(20));
}

TEST(ConstrainedSpaceTest, RefusesWhatCannotBeEnumerated) {
  Parameters parameters;
  std::string sum = "p0";
  for (int i = 0; i < 15; ++i) {
    parameters.emplace_back(Cat("p", i), "range(10)");
    if (i > 0) sum += Cat(" + p", i);
  }
  // 10^15 configs, and a constraint that connects all of them.
  const SpaceLimits limits = {.operations = 10'000'000, .memory_bytes = 4 << 20};
  const absl::StatusOr<ConstrainedSpace> many = ConstrainedSpace::Create(Make(parameters, {sum + " >= 0"}), limits);
  EXPECT_EQ(many.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(many.status().message()), HasSubstr("have too many"));
  // None of them fulfils the constraint, which is known only at the last parameter.
  const absl::StatusOr<ConstrainedSpace> none = ConstrainedSpace::Create(Make(parameters, {sum + " < 0"}), limits);
  EXPECT_EQ(none.status().code(), absl::StatusCode::kResourceExhausted);
}

TEST(ConstrainedSpaceTest, RefusesSpacesBeyondItsNumbers) {
  Parameters parameters;
  for (int i = 0; i < 10; ++i) parameters.emplace_back(Cat("p", i), "range(1000)");
  const absl::StatusOr<ConstrainedSpace> space = ConstrainedSpace::Create(Make(parameters, {}));
  EXPECT_THAT(std::string(space.status().message()), HasSubstr("more than 2^62 configs"));
}

TEST(ConstrainedSpaceTest, NamesTheConditionThatFails) {
  const absl::StatusOr<ConstrainedSpace> none =
      ConstrainedSpace::Create(Make({{"a", "range(3)"}, {"b", "range(3)"}}, {"a > b + 5"}));
  EXPECT_THAT(std::string(none.status().message()), HasSubstr("no config fulfils the conditions"));
  const absl::StatusOr<ConstrainedSpace> never = ConstrainedSpace::Create(Make({{"a", "range(3)"}}, {"1 == 2"}));
  EXPECT_THAT(std::string(never.status().message()), HasSubstr("Conditions[0].Expression: no config"));
  const absl::StatusOr<ConstrainedSpace> error =
      ConstrainedSpace::Create(Make({{"a", "range(3)"}, {"b", "range(3)"}}, {"a % b == 0"}));
  EXPECT_THAT(std::string(error.status().message()),
              HasSubstr("Conditions[0].Expression: column 3 of 'a % b == 0': division by zero (at a=0, b=0)"));
}

}  // namespace
}  // namespace telemetry::worker::spec
