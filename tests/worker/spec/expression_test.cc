#include "worker/spec/expression.h"

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace telemetry::worker::spec {
namespace {

using testing::HasSubstr;

const std::vector<std::string> kNames = {"x", "y", "sizes", "mode"};

// Evaluates a text with x=8, y=3, sizes=[1, 2, 4], mode='fast' and returns the result, or the error, as text.
std::string Eval(std::string_view text) {
  const absl::StatusOr<Expression> expression = Expression::Compile(text, kNames);
  if (!expression.ok()) return std::string(expression.status().message());
  ValueArena arena;
  const std::vector<Value> values = {Value::Integer(8), Value::Integer(3),
                                     arena.AddList({Value::Integer(1), Value::Integer(2), Value::Integer(4)}),
                                     arena.AddText("fast")};
  Evaluation evaluation;
  const absl::StatusOr<Value> value = expression->Evaluate(values, &evaluation);
  return value.ok() ? value->ToString() : std::string(value.status().message());
}

// Each expected result is Python's.
TEST(ExpressionTest, CalculatesAsPython) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"1 + 2 * 3", "7"},  {"(1 + 2) * 3", "9"}, {"7 / 2", "3.5"},        {"8 / 2", "4.0"},       {"7 // 2", "3"},
      {"-7 // 2", "-4"},   {"-7 % 3", "2"},      {"7 % -3", "-2"},        {"7.5 // 2", "3.0"},    {"-7.5 % 2", "0.5"},
      {"2 ** 10", "1024"}, {"2 ** -1", "0.5"},   {"-2 ** 2", "-4"},       {"2 ** 3 ** 2", "512"}, {"1 << 4 | 1", "17"},
      {"6 & 3 ^ 8", "10"}, {"~5", "-6"},         {"1 & 2 == 2", "False"},  // & binds tighter than ==
      {"10 - 4 - 3", "3"}, {"0x10", "16"},       {"1e3", "1000.0"},       {".5", "0.5"},          {"True + True", "2"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(Eval(text), expected) << text;
}

TEST(ExpressionTest, ComparesAndDecidesAsPython) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"x == 8 and y != 3", "False"}, {"x == 8 or y / 0", "True"},  // the second operand is not evaluated
      {"not x == 8", "False"},        {"1 <= y < 4", "True"},
      {"1 < y < 3", "False"},         {"x in [4, 8]", "True"},
      {"x not in sizes", "True"},     {"x in (1, 2)", "False"},
      {"mode == 'fast'", "True"},     {"mode in ['slow', \"fast\"]", "True"},
      {"'as' in mode", "True"},       {"mode == 1", "False"},
      {"1 if x > y else 2", "1"},     {"0 or y", "3"},
      {"[1, 2] < [1, 3]", "True"},    {"1 == 1.0", "True"},
      {"not x in [1]", "True"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(Eval(text), expected) << text;
}

TEST(ExpressionTest, AcceptsTheSpellingsOfC) {
  EXPECT_EQ(Eval("x == 8 && !(y == 4) || false"), "True");
  EXPECT_EQ(Eval("x > 4 ? 10 : 20"), "10");
  EXPECT_EQ(Eval("!x == 0"), "True");  // (!x) == 0
  EXPECT_EQ(Eval("!y || true"), "True");
  EXPECT_EQ(Eval("x != 8 ? 1 : y != 3 ? 2 : 3"), "3");
}

TEST(ExpressionTest, HasListsAndFunctions) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"[i for i in range(3, 12, 2)]", "[3, 5, 7, 9, 11]"},
      {"[2**i for i in range(6)]", "[1, 2, 4, 8, 16, 32]"},
      {"[16 * i for i in range(1, 9) if i % 2 == 0]", "[32, 64, 96, 128]"},
      {"[[j * i for j in range(2)] for i in range(3)]", "[[0, 0], [0, 1], [0, 2]]"},
      {"[(i, 1) for i in sizes]", "[[1, 1], [2, 1], [4, 1]]"},
      {"list(range(3))", "[0, 1, 2]"},
      {"max(sizes) + min(x, y, 5)", "7"},
      {"sum(i for i in sizes)", "7"},
      {"len(sizes) + len(mode)", "7"},
      {"sizes[1] + sizes[-1]", "6"},
      {"int(7.9) + ceil(1.2) + floor(1.8) + round(2.5)", "12"},
      {"abs(-3)", "3"},
      {"pow(2, 3)", "8"},
      {"sqrt(16.0)", "4.0"},
      {"log2(8)", "3.0"},
      {"int('12')", "12"},
      {"str(12)", "'12'"},
      {"[]", "[]"},
      {"(1)", "1"},
      {"(1,)", "[1]"},
      {"[1,]", "[1]"},
      {"[[1]]", "[[1]]"},
      {"range(3, 0, -1)", "[3, 2, 1]"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(Eval(text), expected) << text;
}

TEST(ExpressionTest, NamesThePositionOfAnError) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"x == 8 and", "column 11 of 'x == 8 and': expected a value, found the end"},
      {"x + z", "column 5 of 'x + z': unknown name 'z'; known are x, y, sizes, mode"},
      {"x.real", "column 2 of 'x.real': expected an operator or the end, found '.'"},
      {"__import__('os')", "column 1 of '__import__('os')': unknown function '__import__'"},
      {"(x", "column 3 of '(x': expected ',', found the end"},
      {"x @ y", "column 3 of 'x @ y': this character is not part of the language"},
      {"'abc", "column 1 of ''abc': the string has no closing quote"},
      {"1 + y / 0", "column 7 of '1 + y / 0': division by zero"},
      {"x % (y - 3)", "column 3 of 'x % (y - 3)': division by zero"},
      {"sizes[3]", "column 6 of 'sizes[3]': index 3 of a list with 3 items"},
      {"mode + 1", "column 6 of 'mode + 1': the operator does not apply to string and int"},
      {"x < mode", "column 3 of 'x < mode': the operator does not apply to int and string"},
      {"9223372036854775807 + 1", "column 21 of '9223372036854775807 + 1': the integer does not fit 64 bits"},
      {"9223372036854775808", "does not fit 64 bits"},
      {"10 ** 30", "column 4 of '10 ** 30': the integer does not fit 64 bits"},
      {"1 << 63", "does not fit 64 bits"},
      {"12ab", "column 1 of '12ab': '12ab' is not a number"},
      {"max()", "column 1 of 'max()': max() does not take 0 arguments"},
      {"max([])", "column 1 of 'max([])': the list is empty"},
      {"x y", "column 3 of 'x y': expected an operator or the end, found 'y'"},
      {"lambda: x", "column 1 of 'lambda: x': unknown name 'lambda'"},
      {"", "column 1 of '': expected a value, found the end"},
      {"x = 8", "found '='"},
      {"[i for i in 5]", "`for` needs a list, not int"},
      {"int(1e300)", "does not fit 64 bits"},
  };
  for (const auto& [text, expected] : cases) EXPECT_THAT(Eval(text), HasSubstr(expected)) << text;
}

TEST(ExpressionTest, SmallestIntegerHasNoQuotientBeyondRange) {
  EXPECT_THAT(Eval("(-9223372036854775807 - 1) // -1"), HasSubstr("does not fit 64 bits"));
  EXPECT_EQ(Eval("(-9223372036854775807 - 1) % -1"), "0");
  EXPECT_THAT(Eval("-(-9223372036854775807 - 1)"), HasSubstr("does not fit 64 bits"));
  EXPECT_THAT(Eval("abs(-9223372036854775807 - 1)"), HasSubstr("does not fit 64 bits"));
}

TEST(ExpressionTest, RefusesWhatExplodes) {
  EXPECT_THAT(Eval(std::string(1000, '(') + "1" + std::string(1000, ')')), HasSubstr("nested deeper than 100"));
  EXPECT_THAT(Eval(std::string(1000, '[') + std::string(1000, ']')), HasSubstr("nested deeper than 100"));
  EXPECT_THAT(Eval(std::string(1000, '-') + "1"), HasSubstr("nested deeper than 100"));
  EXPECT_THAT(Eval(std::string(17000, '1')), HasSubstr("the limit is 16384"));
  EXPECT_THAT(Eval("range(1000000000000)"), HasSubstr("more operations than its limit"));
  EXPECT_THAT(Eval("[[[i for i in range(1000)] for j in range(1000)] for k in range(1000)]"),
              HasSubstr("more operations than its limit"));
  std::string sum = "1";
  for (int i = 0; i < 3000; ++i) sum += "+1";
  EXPECT_THAT(Eval(sum), HasSubstr("nested deeper than 100"));
  // Each level evaluates its middle operand twice.
  std::string chain = "x";
  for (int i = 0; i < 40; ++i) chain.insert(0, "(0<=").append("<=9)");
  EXPECT_THAT(Eval(chain), HasSubstr("more operations than its limit"));
}

TEST(ExpressionTest, LongConjunctionsAreNotDeep) {
  std::string all = "x == 8";
  for (int i = 0; i < 1000; ++i) all += " and x == 8";
  EXPECT_EQ(Eval(all), "True");
}

TEST(ExpressionTest, KnowsItsVariables) {
  EXPECT_EQ(Expression::Compile("y + x + y", kNames)->variables(), (std::vector<int>{0, 1}));
  EXPECT_EQ(Expression::Compile("[i for i in sizes]", kNames)->variables(), (std::vector<int>{2}));
}

}  // namespace
}  // namespace telemetry::worker::spec
