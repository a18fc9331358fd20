// Tests the lists of rejects, producers, cache entries and tokens.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "proto/record/ids.h"
#include "server/access/token_file.h"
#include "server/access/token_watch.h"
#include "server/storage/cache_put.h"
#include "server/web/summary/named_text.h"
#include "tests/server/web/web_sample.h"
#include "tests/temp_folder.h"

namespace telemetry::web::api {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

v1::Record RejectRecord(v1::Reject::Reason reason, const std::string& message, const std::string& raw,
                        const std::string& origin) {
  v1::Record record;
  record.mutable_reject()->set_reason(reason);
  record.mutable_reject()->set_message(message);
  record.mutable_reject()->set_source("softmax.csv");
  record.mutable_reject()->set_line(3);
  record.mutable_reject()->set_raw(raw);
  record.mutable_reject()->set_origin(origin);
  return record;
}

class ServiceTest : public ::testing::Test {
 protected:
  void Put(const std::string& sender, const std::string& space, const std::string& key, const std::string& value) {
    storage::CachePut put = {.sender = sender, .entry = {}};
    put.entry.set_namespace_(space);
    put.entry.set_key(key);
    put.entry.set_value(value);
    put.entry.set_attempt_id(storage::AttemptId('A'));
    put.entry.set_hardware("H200");
    const auto outcomes = story_.dataset().writer().PutCacheEntries({put}, {});
    ASSERT_TRUE(outcomes.ok() && outcomes->front().status.ok());
  }

  WebStory story_;
};

TEST_F(ServiceTest, ListsRejects) {
  story_.Send({RejectRecord(v1::Reject::REASON_UNREADABLE, "bad ' row?1", "a,b", ""),
               RejectRecord(v1::Reject::REASON_CONFLICT, "other", std::string("\xFF\0x", 3), "ci/1")});
  story_.Send({RejectRecord(v1::Reject::REASON_CONFLICT, std::string(100000, 'm'), std::string(100000, 'r'), "ci/2?")},
              "ci");
  const auto list = story_.Ask("rejects");
  ASSERT_TRUE(list.ok()) << list.status();
  EXPECT_EQ(At(*list, "items.2.reason"), "\"unreadable\"");
  EXPECT_EQ(At(*list, "items.2.message"), "\"bad ' row?1\"");
  EXPECT_EQ(At(*list, "items.2.source"), "\"softmax.csv\"");
  EXPECT_EQ(At(*list, "items.2.line"), "3");
  EXPECT_EQ(At(*list, "items.2.raw_bytes"), "3");
  EXPECT_EQ(At(*list, "items.2.sender"), "null");
  EXPECT_EQ(At(*list, "items.0.sender"), "\"ci\"");
  EXPECT_EQ(At(*list, "items.0.client"), "\"test 1.0\"");
  EXPECT_LT(At(*list, "items.0.message").size(), 320U);
  EXPECT_EQ(At(*list, "reasons"), R"([{"reason": "conflict", "count": 2}, {"reason": "unreadable", "count": 1}])");
  const std::string first = At(*list, "items.2.reject");
  EXPECT_THAT(story_.AllPages("rejects?limit=1", "line"), ElementsAre("3", "3", "3"));
  EXPECT_THAT(story_.AllPages("rejects?reason=unreadable", "reject"), ElementsAre(first));
  EXPECT_THAT(story_.AllPages("rejects?sender=ci", "origin.label"), ElementsAre("\"ci/2?\""));
  EXPECT_THAT(story_.AllPages("rejects?sender=", "origin.label"), ElementsAre("\"ci/1\"", "\"\""));
  EXPECT_THAT(story_.AllPages("rejects?origin=ci/2%3F", "sender"), ElementsAre("\"ci\""));
  EXPECT_THAT(story_.AllPages(absl::StrCat("rejects?origin=", summary::FilterOf("")), "reject"), ElementsAre(first));
  EXPECT_THAT(story_.AllPages("rejects?origin='+OR+1=1+--", "reject"), IsEmpty());
  EXPECT_THAT(story_.AllPages("rejects?reason=%3F1&sender=%3F2", "reject"), IsEmpty());
  EXPECT_THAT(story_.AllPages("rejects?until=1", "reject"), IsEmpty());
  EXPECT_EQ(story_.Value(absl::StrCat("rejects/", first), "raw"),
            R"({"text": "a,b", "hex": null, "bytes": 3, "truncated": false})");
  const std::string second = At(*list, "items.1.reject");
  EXPECT_EQ(story_.Value(absl::StrCat("rejects/", second), "raw"),
            R"({"text": null, "hex": "ff0078", "bytes": 3, "truncated": false})");
  const auto third = story_.Ask(absl::StrCat("rejects/", At(*list, "items.0.reject")));
  ASSERT_TRUE(third.ok()) << third.status();
  EXPECT_EQ(At(*third, "raw.bytes"), "100000");
  EXPECT_EQ(At(*third, "raw.truncated"), "true");
  EXPECT_EQ(At(*third, "raw.text").size(), 65536U + 2);
  EXPECT_EQ(At(*third, "message").size(), 100000U + 2);
  EXPECT_EQ(story_.Code("rejects/999"), absl::StatusCode::kNotFound);
  EXPECT_EQ(story_.Code("rejects/x"), absl::StatusCode::kNotFound);
}

TEST_F(ServiceTest, ListsProducers) {
  story_.Send({storage::AttemptRecord('A', 'a')});
  story_.Send({storage::AttemptRecord('B', 'a')}, "ci");
  story_.Send({storage::AttemptRecord('C', 'a')}, "zz");
  const auto list = story_.Ask("producers?sender=ci");
  ASSERT_TRUE(list.ok()) << list.status();
  EXPECT_EQ(At(*list, "total"), "1");
  EXPECT_EQ(At(*list, "items.0.client"), "\"test 1.0\"");
  EXPECT_EQ(At(*list, "items.0.epoch"), "1");
  EXPECT_EQ(At(*list, "items.0.committed_seq"), "1");
  const std::string id = At(*list, "items.0.producer_id");
  EXPECT_EQ(id, absl::StrCat("\"", record::HexEncode("ci.............."), "\""));
  for (const char* const sort : {"last_opened", "-last_opened"}) {
    EXPECT_THAT(story_.AllPages(absl::StrCat("producers?limit=1&q=1.0&sort=", sort), "sender"),
                testing::UnorderedElementsAre("null", "\"ci\"", "\"zz\""));
  }
  EXPECT_THAT(story_.AllPages(absl::StrCat("producers?q=", id.substr(1, 5)), "sender"), ElementsAre("\"ci\""));
  EXPECT_THAT(story_.AllPages("producers?q=TEST+1&sender=", "sender"), testing::Contains("null"));
  EXPECT_THAT(story_.AllPages("producers?q='%3F1", "sender"), IsEmpty());
  EXPECT_EQ(story_.Code("producers?cursor=1vzz"), absl::StatusCode::kInvalidArgument);
}

TEST_F(ServiceTest, ListsCacheEntries) {
  story_.Send({storage::RunRecord('a'), storage::AttemptRecord('A', 'a')});
  Put("token ci", "helion", "key ? 1", "value");
  Put("token ci", "helion", "KEY 2", std::string(70000, 'v'));
  Put("10.0.0.1", "triton", "k", std::string("\0\1", 2));
  const auto list = story_.Ask("cache");
  ASSERT_TRUE(list.ok()) << list.status();
  EXPECT_EQ(At(*list, "items.0.namespace"), "\"triton\"");
  EXPECT_EQ(At(*list, "items.0.sender"), "\"10.0.0.1\"");
  EXPECT_EQ(At(*list, "items.0.run_id"), absl::StrCat("\"", storage::RunId('a'), "\""));
  EXPECT_EQ(At(*list, "items.0.hardware"), "\"H200\"");
  EXPECT_EQ(At(*list, "items.0.versions"), "null");
  EXPECT_EQ(At(*list, "namespaces.0.namespace"), "\"helion\"");
  EXPECT_EQ(At(*list, "namespaces.0.entries"), "2");
  EXPECT_EQ(At(*list, "namespaces.0.bytes"),
            absl::StrCat(std::stoll(At(*list, "items.1.size_bytes")) + std::stoll(At(*list, "items.2.size_bytes"))));
  EXPECT_THAT(story_.AllPages("cache?limit=1&namespace=helion", "key"), ElementsAre("\"KEY 2\"", "\"key ? 1\""));
  EXPECT_THAT(story_.AllPages("cache?q=key+%3F", "key"), ElementsAre("\"key ? 1\""));
  EXPECT_THAT(story_.AllPages("cache?q=key+2", "key"), ElementsAre("\"KEY 2\""));
  EXPECT_EQ(story_.Value(absl::StrCat("cache/", At(*list, "items.2.entry")), "value.text"), "\"value\"");
  EXPECT_EQ(story_.Value(absl::StrCat("cache/", At(*list, "items.1.entry")), "value.bytes"), "70000");
  EXPECT_EQ(story_.Value(absl::StrCat("cache/", At(*list, "items.1.entry")), "value.truncated"), "true");
  EXPECT_EQ(story_.Value(absl::StrCat("cache/", At(*list, "items.0.entry")), "value.hex"), "\"0001\"");
  EXPECT_EQ(story_.Code("cache/999"), absl::StatusCode::kNotFound);
}

TEST_F(ServiceTest, ListsSendersWithoutATokenFile) {
  SendSample(&story_);
  const auto list = story_.Ask("tokens");
  ASSERT_TRUE(list.ok()) << list.status();
  EXPECT_EQ(At(*list, "items.0.name"), "null");
  EXPECT_EQ(At(*list, "items.0.attempts"), "2");
  EXPECT_EQ(At(*list, "items.0.in_token_file"), "null");
  EXPECT_EQ(At(*list, "items.1.name"), "\"ci\"");
  EXPECT_EQ(At(*list, "items.1.attempts"), "2");
  EXPECT_EQ(At(*list, "items.1.producers"), "1");
  EXPECT_EQ(At(*list, "items.1.rejects"), "0");
  EXPECT_EQ(At(*list, "items.1.role"), "null");
}

TEST_F(ServiceTest, AddsNoNumbersOfSendersThatSentNothing) {
  const auto list = story_.Ask("tokens");
  ASSERT_TRUE(list.ok()) << list.status();
  // The producer of the fixture has no name.
  EXPECT_EQ(At(*list, "items.0.producers"), "1");
  EXPECT_EQ(At(*list, "items.1"), "(none)");
  EXPECT_THAT(story_.Csv("tokens"), HasSubstr("name,role,in_token_file"));
}

TEST(TokenListTest, JoinsTheTokenFileWithTheSenders) {
  const TempFolder folder;
  const std::string path = folder.File("tokens.json");
  std::string secret;
  const absl::Status stored = access::ChangeTokens(path, [&](std::vector<access::Token>& tokens) {
    for (const char* const name : {"ci", "idle", "revoked"}) {
      access::NewToken token =
          *access::MakeNewToken({.name = name, .roles = {access::Role::kWriter, access::Role::kReader}});
      secret = token.text;
      if (token.token.name == "idle") token.token.expires = absl::FromUnixSeconds(4000000000);
      if (token.token.name == "revoked") token.token.revoked = absl::FromUnixSeconds(1);
      tokens.push_back(token.token);
    }
    return absl::OkStatus();
  });
  ASSERT_TRUE(stored.ok()) << stored;
  const auto watch = access::TokenWatch::Open(path);
  ASSERT_TRUE(watch.ok()) << watch.status();
  WebStory story(watch->get());
  SendSample(&story);
  const auto list = story.Ask("tokens");
  ASSERT_TRUE(list.ok()) << list.status();
  EXPECT_EQ(At(*list, "items.0.name"), "null");
  EXPECT_EQ(At(*list, "items.0.in_token_file"), "false");
  EXPECT_EQ(At(*list, "items.1.name"), "\"ci\"");
  EXPECT_EQ(At(*list, "items.1.role"), "\"writer, reader\"");
  EXPECT_EQ(At(*list, "items.1.in_token_file"), "true");
  EXPECT_EQ(At(*list, "items.1.attempts"), "2");
  EXPECT_EQ(At(*list, "items.1.expires_unix_ms"), "null");
  EXPECT_EQ(At(*list, "items.2.name"), "\"idle\"");
  EXPECT_EQ(At(*list, "items.2.attempts"), "0");
  EXPECT_EQ(At(*list, "items.2.expires_unix_ms"), "4000000000000");
  EXPECT_EQ(At(*list, "items.3"), "(none)");
  EXPECT_EQ(record::ToJson(*list).find(secret), std::string::npos);
}

}  // namespace
}  // namespace telemetry::web::api
