#include "proto/record/python_literal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace telemetry::record {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string AsJson(std::string_view text) {
  const absl::StatusOr<Json> config = ParseConfig(text);
  return config.ok() ? ToJson(*config) : std::string(config.status().message());
}

TEST(PythonLiteral, ArgumentsKeepTheirOrder) {
  EXPECT_EQ(AsJson("Config(b=[32, 32], a='x', maxnreg=None)"), R"({"b": [32, 32], "a": "x", "maxnreg": null})");
  EXPECT_EQ(AsJson("Config()"), "{}");
  EXPECT_EQ(AsJson("helion.Config( a = 1 , )"), R"({"a": 1})");
}

TEST(PythonLiteral, EveryKindOfValue) {
  EXPECT_EQ(AsJson("Config(t=True, f=False, n=None, d={'k': [1], \"l\": {}}, u=(1, 2), v=(1,), w=(), x=[])"),
            R"({"t": true, "f": false, "n": null, "d": {"k": [1], "l": {}}, "u": [1, 2], "v": [1], "w": [], "x": []})");
}

TEST(PythonLiteral, NumbersStandAsPythonPrintsThem) {
  EXPECT_EQ(AsJson("Config(a=[1, -1, +1, 0, -0, 12345678901234567890123])"),
            R"({"a": [1, -1, 1, 0, 0, 12345678901234567890123]})");
  EXPECT_EQ(AsJson("Config(a=[1.5, 1e-05, 1E5, .5, 5., 5.e1, -0.0, 1e999])"),
            R"({"a": [1.5, 1e-05, 100000.0, 0.5, 5.0, 50.0, -0.0, Infinity]})");
  EXPECT_EQ(AsJson("Config(a=[inf, -inf, nan])"), R"({"a": [Infinity, -Infinity, NaN]})");
}

TEST(PythonLiteral, EveryQuoteAndEscape) {
  EXPECT_EQ(ParseConfig(R"(Config(a='it\'s', b="say \"x\"", c='''t'q''', d="""""", e=''))")->Find("a")->text, "it's");
  EXPECT_EQ(AsJson(R"(Config(a='\n\t\r\a\b\f\v\\\x41\101\u00e9\U0001f600\q'))"),
            R"({"a": "\n\t\r\u0007\b\f\u000b\\AA\u00e9\ud83d\ude00\\q"})");
  EXPECT_EQ(AsJson("Config(a='''x\ny''', b='l\\\nm')"), R"({"a": "x\ny", "b": "lm"})");
}

TEST(PythonLiteral, WhatIsNoConfigIsRefused) {
  for (const char* text : {"",
                           "Config",
                           "Config(",
                           "Config(a)",
                           "Config(1)",
                           "Config(a=1",
                           "Config(a=1) x",
                           "Config(a=1, a=2)",
                           "Conf(a=1)",
                           "MyConfig(a=1)",
                           "Config(a=b)",
                           "Config(a=1 2)",
                           "Config(a=f())",
                           "Config(a=<object>)",
                           "Config(a=0x10)",
                           "Config(a=1_0)",
                           "Config(a=007)",
                           "Config(a=1j)",
                           "Config(a='x)",
                           "Config(a='x' 'y')",
                           "Config(a=b'x')",
                           "Config(a=r'x')",
                           "Config(a=(1))",
                           "Config(a={1: 2})",
                           "Config(a={1, 2})",
                           "Config(a={'x': 1, 'x': 2})",
                           "Config(a=[,])",
                           "Config(,)",
                           "Config(a='\n')",
                           "Config(a='\\ud800')",
                           "Config(a='\\N{BULLET}')",
                           "Config(a=--1)",
                           "Config(a=.)",
                           "Config(a=1e)",
                           "Config(a=[1)",
                           "Config(1a=1)",
                           "Config(a='\xff')"}) {
    EXPECT_EQ(ParseConfig(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

TEST(PythonLiteral, ErrorsSayWhere) {
  EXPECT_EQ(AsJson("Config(a=1, a=2)"), "\"a\" occurs twice at byte 14");
  EXPECT_EQ(AsJson("Config(a=1"), "',' or ')' is missing at byte 10");
  std::string many;
  for (int i = 0; i < 100; ++i) many += absl::StrCat("a", i, "=", i, ", ");
  EXPECT_EQ(AsJson(absl::StrCat("Config(", many, "a0=1)")),
            absl::StrCat("\"a0\" occurs twice at byte ", many.size() + 10));
  EXPECT_EQ(AsJson(absl::StrCat("Config(", many, "a99=1)")),
            absl::StrCat("\"a99\" occurs twice at byte ", many.size() + 11));
}

TEST(PythonLiteral, NestsTwoHundredLevelsAndNoMore) {
  const auto nested = [](size_t levels) {
    return "Config(a=" + std::string(levels, '[') + std::string(levels, ']') + ")";
  };
  EXPECT_TRUE(ParseConfig(nested(199)).ok());
  EXPECT_THAT(AsJson(nested(200)), HasSubstr("nested too deep"));
  EXPECT_FALSE(ParseConfig("Config(a=" + std::string(1000000, '(')).ok());
}

// Printed by Python 3.11: repr(value).
TEST(PythonLiteral, StringsAreWrittenAsReprWritesThem) {
  const std::pair<std::string, std::string> cases[] = {
      {"", "''"},
      {"a'b", "\"a'b\""},
      {"a\"b", "'a\"b'"},
      {"a'\"b", "'a\\'\"b'"},
      {"\n\t\r\\", "'\\n\\t\\r\\\\'"},
      {std::string("\0\x7f\u0080\u00a0\u00ad", 8), "'\\x00\\x7f\\x80\\xa0\\xad'"},
      {"é😀", "'é😀'"},
      {"\u2028\u200b\ufeff", "'\\u2028\\u200b\\ufeff'"},
      {"\U000e0001", "'\\U000e0001'"},
  };
  for (const auto& [value, repr] : cases) {
    Json config = Json::Object();
    config.members.emplace_back("a", Json::String(value));
    EXPECT_EQ(FormatConfig(config), "Config(a=" + repr + ")");
    EXPECT_EQ(ParseConfig(FormatConfig(config)).value(), config);
  }
}

TEST(PythonLiteral, ValuesAreWrittenAsReprWritesThem) {
  const absl::StatusOr<Json> config = ParseJson(
      R"({"num_warps": 4, "b": [32, 16], "f": 1e-05, "n": null, "t": true, "d": {"x": []}, "i": -Infinity, "q": NaN})");
  EXPECT_EQ(FormatConfig(*config),
            "Config(num_warps=4, b=[32, 16], f=1e-05, n=None, t=True, d={'x': []}, i=-inf, q=nan)");
}

TEST(PythonLiteral, ArgumentsOfACall) {
  EXPECT_THAT(SplitConfigArguments("Config(a=[1, 2], b='x, y', c={'k': (1, 2)})"),
              ElementsAre("a=[1, 2]", "b='x, y'", "c={'k': (1, 2)}"));
  EXPECT_THAT(SplitConfigArguments(R"(Config(a='it\'s, ', b=1))"), ElementsAre(R"(a='it\'s, ')", "b=1"));
  EXPECT_THAT(SplitConfigArguments("Config(a=<x>, b)"), ElementsAre("a=<x>", "b"));
}

TEST(PythonLiteral, WhatCannotBeJoinedAgainIsNotSplit) {
  for (const char* text : {"", "Config()", "Config(a=[1)", "Config(a=1))", "Config(a=')", "helion.Config(a=1)",
                           "Config(a=1", "Config(a=1, )", "Config(a=])"}) {
    EXPECT_THAT(SplitConfigArguments(text), IsEmpty()) << text;
  }
}

}  // namespace
}  // namespace telemetry::record
