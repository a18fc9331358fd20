#include "server/web/json/json_writer.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <limits>

#include "proto/record/json.h"

namespace telemetry::web::json {
namespace {

TEST(JsonWriterTest, WritesNestedValues) {
  std::string text;
  JsonWriter out(&text);
  out.BeginObject();
  out.Field("a", 1);
  out.BeginArray("b");
  out.Value(true);
  out.Value(nullptr);
  out.BeginObject();
  out.EndObject();
  out.BeginArray();
  out.EndArray();
  out.EndArray();
  out.Field("c", std::optional<int64_t>());
  out.Field("d", std::optional(2.5));
  out.Key("e");
  out.Raw("[1]");
  out.EndObject();
  EXPECT_EQ(text, R"({"a": 1, "b": [true, null, {}, []], "c": null, "d": 2.5, "e": [1]})");
  EXPECT_EQ(out.size(), text.size());
}

TEST(JsonWriterTest, WritesNumbersThatReadBackTheSame) {
  for (const double value : {0.1, -0.0, 1e-300, 123456789.123456789, 1e22, 5e-324}) {
    std::string text;
    JsonWriter(&text).Value(value);
    EXPECT_EQ(strtod(text.c_str(), nullptr), value) << text;
    EXPECT_TRUE(record::ParseJson(text).ok()) << text;
  }
  std::string text;
  JsonWriter out(&text);
  out.Value(std::numeric_limits<double>::infinity());
  out.Value(std::numeric_limits<double>::quiet_NaN());
  out.Value(std::numeric_limits<int64_t>::min());
  EXPECT_EQ(text, "null, null, -9223372036854775808");
}

TEST(JsonWriterTest, WritesTextsOfAnyBytesAsJson) {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes.push_back(static_cast<char>(byte));
  std::string text;
  JsonWriter(&text).Value(bytes);
  const auto parsed = record::ParseJson(text);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_TRUE(parsed->text.starts_with("\uFFFD\x01\x02"));
  EXPECT_EQ(text.find('\n'), std::string::npos);
}

TEST(JsonWriterTest, CutsTextsOfLists) {
  const std::string long_text(2 * kListTextBytes, 'x');
  std::string text;
  JsonWriter out(&text);
  out.BeginArray();
  out.Value(long_text);
  out.Value(Whole{long_text});
  out.EndArray();
  const auto parsed = record::ParseJson(text);
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->items[0].text, std::string(kListTextBytes, 'x') + "\u2026");
  EXPECT_EQ(parsed->items[1].text, long_text);
}

}  // namespace
}  // namespace telemetry::web::json
