#include "server/web/json/csv.h"

#include <gtest/gtest.h>

namespace telemetry::web::json {
namespace {

std::string Csv(const std::string& json) {
  const auto parsed = record::ParseJson(json);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  std::string text;
  if (parsed.ok()) CsvWriter(&text).Append(*parsed);
  return text;
}

TEST(CsvTest, WritesAHeaderAndALineForEachObject) {
  EXPECT_EQ(Csv(R"([{"a": 1, "b": "x"}, {"a": null, "b": true}])"), "a,b\r\n1,x\r\n,true\r\n");
  EXPECT_EQ(Csv("[]"), "");
}

TEST(CsvTest, QuotesCells) {
  EXPECT_EQ(Csv(R"([{"a": "x,y", "b": "say \"hi\"", "c": "two\nlines"}])"),
            "a,b,c\r\n\"x,y\",\"say \"\"hi\"\"\",\"two\nlines\"\r\n");
}

TEST(CsvTest, DisarmsFormulas) {
  EXPECT_EQ(Csv(R"([{"a": "=1+1", "b": "+x", "c": "-x", "d": "@x", "e": "\tx", "f": -1}])"),
            "a,b,c,d,e,f\r\n\"'=1+1\",\"'+x\",\"'-x\",\"'@x\",\"'\tx\",-1\r\n");
  EXPECT_EQ(Csv(R"([{"=cmd": 1}])"), "\"'=cmd\"\r\n1\r\n");
}

TEST(CsvTest, WritesTheLabelOfANamedText) {
  EXPECT_EQ(Csv(R"([{"kernel": {"label": "softmax", "filter": "f"}, "x": {"y": 1}, "z": [1]}])"),
            "kernel,x,z\r\nsoftmax,\"{\"\"y\"\": 1}\",[1]\r\n");
  EXPECT_EQ(Csv(R"([{"kernel": {"label": null, "filter": "null:"}}])"), "kernel\r\n\r\n");
}

TEST(CsvTest, WritesALineForEachPositionOfASeries) {
  EXPECT_EQ(
      Csv(R"([{"id": "a", "s": [1, 2], "ms": [3.5, null]}, {"id": "b", "s": [], "ms": []}, {"id": "c", "s": [7], "ms": [8]}])"),
      "id,s,ms\r\na,1,3.5\r\na,2,\r\nc,7,8\r\n");
}

TEST(CsvTest, WritesColumnsOfAnObject) { EXPECT_EQ(Csv(R"({"a": ["x", "y"], "b": [1, 2]})"), "a,b\r\nx,1\r\ny,2\r\n"); }

}  // namespace
}  // namespace telemetry::web::json
