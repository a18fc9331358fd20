// Tests CacheService on a running collector: roles, senders, hostile sizes, floods, pages.

#include <gmock/gmock.h>
#include <grpcpp/client_context.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "server/cache/cache_limits.h"
#include "server/storage/cache_put.h"
#include "telemetry/v1/cache.grpc.pb.h"
#include "tests/server/collector/any_call.h"
#include "tests/server/collector/collector_story.h"
#include "tests/server/collector/token_folder.h"

namespace telemetry::collector {
namespace {

using access::Role;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class CacheServiceTest : public ::testing::Test {
 protected:
  CacheServiceTest()
      : a_(tokens_.Add({.name = "a", .roles = {Role::kReader, Role::kCacheWriter}})),
        b_(tokens_.Add({.name = "b", .roles = {Role::kCacheWriter}})) {
    Serve({});
  }
  void Serve(const call::Limits& limits) {
    story_.emplace(ServerOptions{.tokens = tokens_.path(), .limits = limits});
    stub_ = v1::CacheService::NewStub(story_->channel());
  }

  static void Prepare(grpc::ClientContext& context, const std::string& token) {
    context.set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(60)));
    if (!token.empty()) context.AddMetadata("authorization", "Bearer " + token);
  }
  static v1::CacheEntry Entry(const std::string& key, const std::string& value) {
    v1::CacheEntry entry;
    entry.set_namespace_("test");
    entry.set_key(key);
    entry.set_value(value);
    return entry;
  }
  grpc::Status Put(const std::string& token, const v1::CacheEntry& entry) {
    grpc::ClientContext context;
    Prepare(context, token);
    v1::PutCacheRequest request;
    *request.mutable_entry() = entry;
    v1::PutCacheResponse response;
    return stub_->Put(&context, request, &response);
  }
  grpc::StatusCode PutCode(const std::string& token, const v1::CacheEntry& entry) {
    return Put(token, entry).error_code();
  }
  // Returns "sender:value", or the code of the error.
  std::string Get(const std::string& key, const std::vector<std::string>& senders = {}) {
    grpc::ClientContext context;
    Prepare(context, a_);
    v1::GetCacheRequest request;
    request.set_namespace_("test");
    request.set_key(key);
    for (const std::string& sender : senders) request.add_senders(sender);
    v1::CacheEntry entry;
    const grpc::Status status = stub_->Get(&context, request, &entry);
    return status.ok() ? absl::StrCat(entry.sender(), ":", entry.value()) : absl::StrCat(status.error_code());
  }
  template <typename Request, typename Response>
  grpc::StatusCode Code(grpc::Status (v1::CacheService::Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                        const Request& request) {
    grpc::ClientContext context;
    Prepare(context, a_);
    Response response;
    return ((*stub_).*method)(&context, request, &response).error_code();
  }
  // Returns "sender:key" of all entries.
  std::vector<std::string> List() {
    std::vector<std::string> names;
    v1::ListCacheRequest request;
    do {
      grpc::ClientContext context;
      Prepare(context, a_);
      v1::ListCacheResponse page;
      const grpc::Status status = stub_->List(&context, request, &page);
      EXPECT_TRUE(status.ok()) << status.error_message();
      for (const v1::CacheEntry& entry : page.entries()) names.push_back(entry.sender() + ":" + entry.key());
      request.set_page_token(page.next_page_token());
    } while (!request.page_token().empty());
    return names;
  }

  TokenFolder tokens_;
  const std::string a_;
  const std::string b_;
  std::optional<CollectorStory> story_;
  std::unique_ptr<v1::CacheService::Stub> stub_;
};

TEST_F(CacheServiceTest, WhatOneSenderPutsHidesNothingOfAnother) {
  EXPECT_TRUE(Put(a_, Entry("k", "good")).ok());
  EXPECT_TRUE(Put(b_, Entry("k", "bad")).ok());
  EXPECT_EQ(Get("k"), "token b:bad");
  EXPECT_EQ(Get("k", {"token a"}), "token a:good");
  EXPECT_THAT(List(), ElementsAre("token b:k", "token a:k"));
}

TEST_F(CacheServiceTest, ASenderIsNamedByItsTokenAlone) {
  v1::CacheEntry entry = Entry("k", "v");
  entry.set_sender("token a");
  EXPECT_EQ(PutCode(b_, entry), grpc::StatusCode::INVALID_ARGUMENT);
  entry = Entry("k", "v");
  entry.set_stored_unix_us(1);
  EXPECT_EQ(PutCode(b_, entry), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(story_->Query("SELECT count(*) FROM cache_entries"), "0");
}

TEST_F(CacheServiceTest, WithoutTokensAPutWithAConditionIsForEveryone) {
  CollectorStory open{ServerOptions()};
  const auto stub = v1::CacheService::NewStub(open.channel());
  v1::PutCacheRequest request;
  *request.mutable_entry() = Entry("k", "holder 1");
  request.mutable_condition()->add_values("free");
  v1::PutCacheResponse response;
  grpc::ClientContext first;
  Prepare(first, "");
  EXPECT_TRUE(stub->Put(&first, request, &response).ok());
  EXPECT_FALSE(response.has_kept());
  request.mutable_entry()->set_value("holder 2");
  grpc::ClientContext second;
  Prepare(second, "");
  EXPECT_TRUE(stub->Put(&second, request, &response).ok());
  EXPECT_EQ(response.kept().sender() + ":" + response.kept().value(), "anyone:holder 1");
}

TEST_F(CacheServiceTest, AConditionOutsideItsLimitsIsRefused) {
  std::vector<v1::PutCondition> wrong(3);
  wrong[0].add_values(std::string(storage::kMaxConditionBytes + 1, 'v'));
  for (int i = 0; i <= cache::kMaxConditionValues; ++i) wrong[1].add_values("v");
  wrong[2].set_max_age_us(-1);
  for (const v1::PutCondition& condition : wrong) {
    v1::PutCacheRequest request;
    *request.mutable_entry() = Entry("k", "v");
    *request.mutable_condition() = condition;
    EXPECT_EQ(Code(&v1::CacheService::Stub::Put, request), grpc::StatusCode::INVALID_ARGUMENT);
  }
}

TEST_F(CacheServiceTest, FieldsOutsideTheirLimitsAreRefused) {
  std::vector<v1::CacheEntry> wrong(10, Entry("k", "v"));
  wrong[0].clear_namespace_();
  wrong[1].clear_key();
  wrong[2].set_namespace_(std::string(cache::kMaxNamespaceBytes + 1, 'n'));
  wrong[3].set_key(std::string(cache::kMaxKeyBytes + 1, 'k'));
  wrong[4].set_value(std::string(cache::kMaxValueBytes + 1, 'v'));
  wrong[5].set_attempt_id("short");
  wrong[6].set_hardware(std::string(cache::kMaxHardwareBytes + 1, 'h'));
  wrong[7].set_versions_json("[]");
  wrong[8].set_versions_json(absl::StrCat("{\"v\": \"", std::string(cache::kMaxVersionsBytes, 'v'), "\"}"));
  wrong[9].set_key(std::string("a\0b", 3));
  for (const v1::CacheEntry& entry : wrong) {
    EXPECT_EQ(PutCode(a_, entry), grpc::StatusCode::INVALID_ARGUMENT) << entry.ShortDebugString().substr(0, 200);
  }
  EXPECT_TRUE(Put(a_, Entry(std::string(cache::kMaxKeyBytes, 'k'), std::string(cache::kMaxValueBytes, 'v'))).ok());
  v1::GetCacheRequest get;
  get.set_namespace_("test");
  EXPECT_EQ(Code(&v1::CacheService::Stub::Get, get), grpc::StatusCode::INVALID_ARGUMENT);
  get.set_key("k");
  for (int i = 0; i < cache::kMaxSenders + 1; ++i) get.add_senders("s");
  EXPECT_EQ(Code(&v1::CacheService::Stub::Get, get), grpc::StatusCode::INVALID_ARGUMENT);
  v1::ListCacheRequest list;
  list.set_key_prefix(std::string(cache::kMaxKeyBytes + 1, 'k'));
  EXPECT_EQ(Code(&v1::CacheService::Stub::List, list), grpc::StatusCode::INVALID_ARGUMENT);
  list = {};
  list.set_page_token("-1x");
  EXPECT_EQ(Code(&v1::CacheService::Stub::List, list), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(CacheServiceTest, AHugeRequestIsRefusedUnparsed) {
  const std::string huge(3 << 20, 'x');
  for (const char* method : {"Get", "Put", "List"}) {
    const CallOutcome outcome =
        CallAnything(story_->channel(), absl::StrCat("/telemetry.v1.CacheService/", method), huge, {"Bearer " + a_});
    EXPECT_EQ(outcome.status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << method;
    EXPECT_EQ(outcome.responses, 0);
  }
  EXPECT_TRUE(Put(a_, Entry("k", "v")).ok());
}

TEST_F(CacheServiceTest, AFloodRemovesNothingOfOthersAndIsSlowedDown) {
  call::Limits limits;
  limits.cache = {.total_bytes = uint64_t{8} << 20, .sender_bytes = uint64_t{2} << 20};
  Serve(limits);
  for (const char* key : {"1", "2", "3"}) ASSERT_TRUE(Put(a_, Entry(key, key)).ok());
  // More bytes than the total budget, in as many puts as the collector accepts.
  const std::string value(900'000, 'f');
  int refused = 0;
  for (int i = 0; i < 40; ++i) {
    const grpc::Status status = Put(b_, Entry(absl::StrCat(i), value));
    if (status.ok()) continue;
    ++refused;
    EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED) << status.error_message();
    EXPECT_GT(RetrySeconds(status), 0);
  }
  EXPECT_GT(refused, 0);
  const std::vector<std::string> listed = List();
  EXPECT_THAT(listed, ::testing::IsSupersetOf({"token a:1", "token a:2", "token a:3"}));
  EXPECT_EQ(listed.size(), 5u);
  for (const char* key : {"1", "2", "3"}) EXPECT_EQ(Get(key, {"token a"}), absl::StrCat("token a:", key));
  EXPECT_TRUE(Put(a_, Entry("4", "4")).ok());
}

TEST_F(CacheServiceTest, ACacheWithoutBytesAcceptsNothing) {
  call::Limits limits;
  limits.cache.total_bytes = 0;
  Serve(limits);
  const grpc::Status status = Put(a_, Entry("k", "v"));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(status.error_message(), HasSubstr("--cache-bytes"));
}

TEST_F(CacheServiceTest, OldEntriesAreNotServed) {
  EXPECT_TRUE(Put(a_, Entry("k", "v")).ok());
  EXPECT_EQ(Get("k"), "token a:v");
  absl::Time now = absl::Now();
  ServerOptions options{.tokens = tokens_.path()};
  options.writer.clock = [&now] { return now; };
  story_.reset();
  story_.emplace(std::move(options));
  stub_ = v1::CacheService::NewStub(story_->channel());
  EXPECT_TRUE(Put(a_, Entry("k", "v")).ok());
  now += absl::Hours(24 * 89);
  EXPECT_EQ(Get("k"), "token a:v");
  now += absl::Hours(24 * 2);
  EXPECT_EQ(Get("k"), absl::StrCat(grpc::StatusCode::NOT_FOUND));
  EXPECT_THAT(List(), ElementsAre());
  stub_.reset();
  story_.reset();
}

TEST_F(CacheServiceTest, ARequestThatDoesNotComeEndsTheCall) {
  call::Limits limits;
  limits.open_timeout = absl::Milliseconds(50);
  story_.reset();
  story_.emplace(limits);
  for (const char* method : {"Get", "Put", "List"}) {
    SilentCall call(story_->channel(), absl::StrCat("/telemetry.v1.CacheService/", method));
    EXPECT_EQ(call.AwaitEnd().error_code(), grpc::StatusCode::DEADLINE_EXCEEDED) << method;
  }
}

}  // namespace
}  // namespace telemetry::collector
