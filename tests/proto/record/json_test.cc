#include "proto/record/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace telemetry::record {
namespace {

using ::testing::HasSubstr;

std::string Nested(int levels) { return std::string(levels, '[') + std::string(levels, ']'); }

Json MustParse(std::string_view text) {
  absl::StatusOr<Json> json = ParseJson(text);
  EXPECT_TRUE(json.ok()) << text << ": " << json.status();
  return json.ok() ? *json : Json::Null();
}

TEST(Json, NumbersKeepTheirDigits) {
  for (const char* digits :
       {"0", "-0", "1.10", "1E5", "1e-05", "NaN", "Infinity", "-Infinity", "1e999", "123456789012345678901234567890"}) {
    EXPECT_EQ(MustParse(digits).text, digits);
    EXPECT_EQ(ToJson(MustParse(digits)), digits);
  }
  const std::string big(1000, '9');
  EXPECT_EQ(ToJson(MustParse(big)), big);
}

TEST(Json, KeysKeepTheirOrderEvenTwice) {
  constexpr char kText[] = R"({"b": 1, "a": {"z": [], "y": {}}, "b": 2})";
  EXPECT_EQ(ToJson(MustParse(kText)), kText);
  EXPECT_EQ(MustParse(kText).Find("b")->text, "1");
  EXPECT_EQ(MustParse(kText).Find("c"), nullptr);
}

// Printed by Python 3.11: json.dumps(value).
TEST(Json, StringsAreWrittenAsPythonWritesThem) {
  struct Case {
    std::string value;
    std::string dumped;
  };
  const Case cases[] = {
      {"a\"b\\c/", R"("a\"b\\c/")"},
      {"\b\f\n\r\t", R"("\b\f\n\r\t")"},
      {std::string("\0\x1f\x7f", 3), R"("\u0000\u001f\u007f")"},
      {"é—", R"("\u00e9\u2014")"},
      {"😀", R"("\ud83d\ude00")"},
      {"\u2028", R"("\u2028")"},
      {"~ ", R"("~ ")"},
      {"", R"("")"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(ToJson(Json::String(c.value)), c.dumped);
    EXPECT_EQ(MustParse(c.dumped).text, c.value);
  }
}

TEST(Json, EscapesThatPythonNeverWritesAreReadAllTheSame) {
  EXPECT_EQ(MustParse(R"("\/\u0041\uD83D\uDE00")").text, "/A😀");
}

TEST(Json, IndentedAsPythonIndents) {
  EXPECT_EQ(ToIndentedJson(MustParse(R"({"a": [], "b": {}, "c": [1, {"d": null}]})")),
            "{\n  \"a\": [],\n  \"b\": {},\n  \"c\": [\n    1,\n    {\n      \"d\": null\n    }\n  ]\n}");
}

TEST(Json, CanonicalIsSortedAndTight) {
  EXPECT_EQ(ToCanonicalJson(MustParse(R"({"b": [1, 2], "é": 1, "a": {"z": 1, "y": 2}})")),
            R"({"a":{"y":2,"z":1},"b":[1,2],"\u00e9":1})");
}

// Python: json.dumps(json.loads(text)).
TEST(Json, CanonicalNumbersAreAsPythonPrintsThem) {
  const std::pair<const char*, const char*> cases[] = {
      {"1E5", "100000.0"},
      {"-0", "0"},
      {"-0.0", "-0.0"},
      {"1e999", "Infinity"},
      {"1.10", "1.1"},
      {"1e-7", "1e-07"},
      {"0e5", "0.0"},
      {"12345678901234567890123", "12345678901234567890123"},
      {"1e16", "1e+16"},
      {"1e15", "1000000000000000.0"},
      {"0.0001", "0.0001"},
      {"0.00001", "1e-05"},
      {"5e-324", "5e-324"},
      {"1e-400", "0.0"},
      {"1.7976931348623157e308", "1.7976931348623157e+308"},
      {"-1e999", "-Infinity"},
      {"NaN", "NaN"},
      {"123456789012345680.0", "1.2345678901234568e+17"},
  };
  for (const auto& [text, canonical] : cases) EXPECT_EQ(ToCanonicalJson(MustParse(text)), canonical) << text;
}

TEST(Json, OfEqualKeysTheCanonicalFormHasTheLast) {
  EXPECT_EQ(ToCanonicalJson(MustParse(R"({"a": 1, "b": 2, "a": 3})")), R"({"a":3,"b":2})");
}

TEST(Json, NestsTwoHundredLevelsAndNoMore) {
  EXPECT_TRUE(ParseJson(Nested(200)).ok());
  EXPECT_THAT(std::string(ParseJson(Nested(201)).status().message()), HasSubstr("nested too deep at byte 200"));
  EXPECT_FALSE(ParseJson(std::string(1000000, '[')).ok());
}

TEST(Json, WhatIsNoJsonIsRefused) {
  for (const std::string text :
       {"",    " ",   "{",   "[",       "[1,]",      "{\"a\":}", "{\"a\" 1}", "{a: 1}", "{\"a\": 1,}", "[1 2]",
        "1 2", "nul", "nan", "inf",     "-NaN",      "+1",       "01",        "1.",     ".5",          "1e",
        "-",   "'a'", "\"a", "\"\\x\"", "\"\\u12\"", "\"\t\"",   "tru",       "0x10",   "1_0"}) {
    EXPECT_EQ(ParseJson(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

// A torn line, or two merged lines.
TEST(Json, WhatEndsTooEarlyOrTooLateIsRefusedAndNamed) {
  for (const char* text : {"[1] 2", "{\"a\": 1} true", "[1, 2", "{\"a\": [1]"}) {
    EXPECT_THAT(std::string(ParseJson(text).status().message()), HasSubstr("has no end, or text follows it")) << text;
  }
}

TEST(Json, BracketsThatDoNotMatchAreRefused) {
  for (const char* text : {"[1}", "{\"a\": 1]", "[[1]",   "[[1}]",    "{\"a\": [1}", "[]]",       "{}}", "]",
                           "}",   "[{]",        "{[]}",   "[{\"a\"]", "[{\"a\":]",   "[1]]",      "[[]", ",",
                           ":",   "[,]",        "[1,,2]", "{,}",      "{\"a\"}",     "{\"a\"::1}"}) {
    EXPECT_EQ(ParseJson(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

TEST(Json, WhatIsNearlyANumberIsRefusedAtTheRootAndWithin) {
  for (const std::string token : {"--1", "-01", "00", "1e+", "1e1.5", "1.e5", "1..2", "-", "-.5", "1a", "1\"a\"",
                                  "NaN1", "-nan", "infinity", "+Infinity", "--Infinity", "truefalse", "nullx", "1-2"}) {
    EXPECT_FALSE(ParseJson(token).ok()) << token;
    EXPECT_FALSE(ParseJson("[" + token + "]").ok()) << token;
    EXPECT_FALSE(ParseJson("{\"a\": " + token + "}").ok()) << token;
  }
}

TEST(Json, OnlyTheFourWhiteSpacesStandBetweenTokens) {
  EXPECT_EQ(ToJson(MustParse(" \t\r\n[ 1 \n,\t\"a\" , null\r] \n")), R"([1, "a", null])");
  EXPECT_EQ(ToJson(MustParse("\n 1 \t")), "1");
  for (const std::string& between : {std::string("\f"), std::string("\v"), std::string("\0", 1), std::string("\x1a"),
                                     std::string("\u00a0"), std::string("\ufeff")}) {
    EXPECT_FALSE(ParseJson(between + "1").ok());
    EXPECT_FALSE(ParseJson("1" + between).ok());
    EXPECT_FALSE(ParseJson("[1" + between + "]").ok());
    EXPECT_FALSE(ParseJson("[1]" + between).ok());
  }
}

TEST(Json, ErrorsSayWhere) {
  EXPECT_EQ(ParseJson("[1, x]").status().message(), "not a JSON value at byte 4");
  EXPECT_EQ(ParseJson("[1] [2]").status().message(), "unexpected text after the value at byte 4");
  EXPECT_EQ(ParseJson("1 2").status().message(), "unexpected text after the value at byte 2");
  EXPECT_THAT(std::string(ParseJson(R"({"a" 1, "b": 2})").status().message()), HasSubstr("at byte 5"));
  EXPECT_THAT(std::string(ParseJson(R"(["a", "\x"])").status().message()), HasSubstr("at byte 6"));
  EXPECT_EQ(ParseJson("\"ab\xff\"").status().message(), "invalid UTF-8 at byte 3");
}

// Overlong forms, surrogates, values beyond U+10FFFF, truncated sequences.
TEST(Json, OnlyUtf8) {
  for (const std::string bytes : {"\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xF0\x80\x80\x80",
                                  "\x80", "\xE2\x82", "\xF5\x80\x80\x80"}) {
    EXPECT_FALSE(ParseJson("\"" + bytes + "\"").ok());
    EXPECT_FALSE(ParseJson("\"12345678" + bytes + "\"").ok());
  }
  for (const std::string bytes : {"\xC2\x80", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(ParseJson("\"" + bytes + "\"").ok());
  }
}

// Python writes them for strings that are not valid text. They cannot be kept, so they must not be changed silently.
TEST(Json, HalvesOfSurrogatePairsAreRefused) {
  for (const char* text : {R"("\ud800")", R"("\udc00")", R"("\ud800\ud800")", R"("\ud800x")", R"("\ud800\u0041")"}) {
    EXPECT_THAT(std::string(ParseJson(text).status().message()), HasSubstr("half a surrogate pair")) << text;
  }
}

}  // namespace
}  // namespace telemetry::record
