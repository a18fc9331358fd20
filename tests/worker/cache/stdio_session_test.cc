#include "worker/cache/stdio_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/client/fake_cache.h"
#include "tests/temp_folder.h"

namespace telemetry::worker::cache {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

class StdioSessionTest : public ::testing::Test {
 protected:
  std::string Answer(const std::string& line) { return AnswerLine(line, client_); }

  TempFolder folder_;
  client::FakeCache cache_{folder_.path()};
  client::CacheClient client_{{.collector = cache_.address(), .deadline = absl::Seconds(30)}};
};

TEST_F(StdioSessionTest, AnEntryThatWasPutIsReturned) {
  EXPECT_EQ(Answer(R"({"id": 1, "op": "get", "namespace": "helion", "key": "k"})"),
            R"({"id": 1, "ok": true, "entry": null})");
  EXPECT_EQ(Answer(R"({"id": 2, "op": "put", "namespace": "helion", "key": "k", "value": "AP8=", "hardware": "H",)"
                   R"( "attempt_id": "00112233445566778899aabbccddeeff", "versions": {"helion": "1.5.1"}})"),
            R"({"id": 2, "ok": true, "removed": 0})");
  EXPECT_EQ(Answer(R"({"id": 3, "op": "get", "namespace": "helion", "key": "k"})"),
            R"({"id": 3, "ok": true, "entry": {"namespace": "helion", "key": "k", "sender": "token a", )"
            R"("stored_unix_us": 1, "attempt_id": "00112233445566778899aabbccddeeff", "hardware": "H", )"
            R"("versions": {"helion": "1.5.1"}, "value": "AP8="}})");
  EXPECT_EQ(cache_.entries().front().value(), std::string("\0\xff", 2));
}

TEST_F(StdioSessionTest, AListIsReturnedInPages) {
  for (const char* key : {"1", "2", "3"}) {
    Answer(absl::StrCat(R"({"op": "put", "namespace": "n", "key": ")", key, R"(", "value": "YQ=="})"));
  }
  const std::string page = Answer(R"({"op": "list"})");
  EXPECT_THAT(page, HasSubstr(R"("key": "3")"));
  EXPECT_THAT(page, HasSubstr(R"("next_page_token": "1")"));
  EXPECT_THAT(page, ::testing::Not(HasSubstr("value")));
  EXPECT_THAT(Answer(R"({"op": "list", "page_token": "1", "values": true})"),
              MatchesRegex(R"re(.*"key": "1".*"value": "YQ==".*"next_page_token": "".*)re"));
}

TEST_F(StdioSessionTest, AWrongRequestIsAnsweredWithItsId) {
  const std::string wrong[] = {
      R"({"id": "x", "op": "drop"})",
      R"({"id": "x"})",
      R"({"id": "x", "op": "get", "namespace": 1})",
      R"({"id": "x", "op": "get", "namespace": "n", "key": "k", "senders": "a"})",
      R"({"id": "x", "op": "put", "namespace": "n", "key": "k", "value": "???"})",
      R"({"id": "x", "op": "put", "namespace": "n", "key": "k", "value": "", "attempt_id": "00"})",
      R"({"id": "x", "op": "put", "namespace": "n", "key": "k", "value": "", "versions": []})",
      R"({"id": "x", "op": "list", "page_size": "many"})",
  };
  for (const std::string& line : wrong) {
    EXPECT_THAT(Answer(line), StartsWith(R"({"id": "x", "ok": false, "code": "INVALID_ARGUMENT", "error": ")")) << line;
  }
  for (const char* line : {"", "nonsense", "[", "3", "null"}) {
    EXPECT_THAT(Answer(line), StartsWith(R"({"id": null, "ok": false, "code": "INVALID_ARGUMENT")")) << line;
  }
  EXPECT_EQ(cache_.calls(), 0);
}

TEST_F(StdioSessionTest, LinesAreAnsweredInOrderUntilTheEnd) {
  std::istringstream in("{\"id\": 1, \"op\": \"hello\"}\n\nnonsense\n{\"id\": [2], \"op\": \"hello\"}");
  std::ostringstream out;
  ServeLines(in, out, client_);
  EXPECT_THAT(out.str(), MatchesRegex("\\{\"id\": 1, \"ok\": true, \"protocol\": 1, \"version\": \"[^\"]+\"\\}\n"
                                      "\\{\"id\": null, \"ok\": false[^\n]*\n"
                                      "\\{\"id\": \\[2\\], \"ok\": true[^\n]*\n"));
}

TEST_F(StdioSessionTest, ASilentCollectorIsAbsentAfterOneRequest) {
  cache_.Hang();
  client::CacheClient client({.collector = cache_.address(), .deadline = absl::Milliseconds(50)});
  const std::string line = R"({"op": "get", "namespace": "n", "key": "k"})";
  EXPECT_THAT(AnswerLine(line, client), MatchesRegex(R"re(.*"code": "DEADLINE_EXCEEDED".*"absent": true\})re"));
  EXPECT_THAT(AnswerLine(line, client), MatchesRegex(R"re(.*"code": "UNAVAILABLE".*"absent": true\})re"));
  EXPECT_EQ(cache_.calls(), 1);
}

}  // namespace
}  // namespace telemetry::worker::cache
