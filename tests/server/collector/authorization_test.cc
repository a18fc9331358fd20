// Tests the authorization of every method of every service with every kind of credential.

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <grpcpp/create_channel.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "telemetry/v1/cache.pb.h"
#include "telemetry/v1/dataset.grpc.pb.h"
#include "telemetry/v1/dataset.pb.h"
#include "telemetry/v1/deletion.pb.h"
#include "telemetry/v1/models.pb.h"
#include "tests/server/access/log_capture.h"
#include "tests/server/collector/any_call.h"
#include "tests/server/collector/collector_story.h"
#include "tests/server/collector/token_folder.h"

namespace telemetry::collector {
namespace {

using access::Role;
using storage::AttemptRecord;
using storage::ConfigRecord;
using storage::Row;
using storage::RunRecord;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kHealth[] = "/grpc.health.v1.Health/Check";
constexpr char kHex[] = "70707070707070707070707070707070";       // ProducerId('p')
constexpr char kOtherHex[] = "71717171717171717171717171717171";  // ProducerId('q')

// Returns all methods in the descriptors, so that a new method is tested as soon as it is in a .proto file.
std::vector<std::string> OwnMethods() {
  std::vector<std::string> methods;
  for (const google::protobuf::FileDescriptor* file :
       {v1::Open::descriptor()->file(), v1::Filter::descriptor()->file(), v1::DeleteRequest::descriptor()->file(),
        v1::CacheEntry::descriptor()->file(), v1::StoredModel::descriptor()->file()}) {
    for (int i = 0; i < file->service_count(); ++i) {
      const google::protobuf::ServiceDescriptor* service = file->service(i);
      for (int k = 0; k < service->method_count(); ++k) {
        methods.push_back(absl::StrCat("/", service->full_name(), "/", service->method(k)->name()));
      }
    }
  }
  return methods;
}

bool Writes(const std::string& method) { return method.find("IngestService") != std::string::npos; }

bool Deletes(const std::string& method) { return method.find("DeletionService") != std::string::npos; }

bool Caches(const std::string& method) { return method == "/telemetry.v1.CacheService/Put"; }

bool ChangesModels(const std::string& method) {
  return method.ends_with("ModelService/Put") || method.ends_with("ModelService/Remove");
}

std::string RequestFor(const std::string& method) {
  if (method.ends_with("/Stream")) {
    v1::StreamRequest request;
    request.mutable_open()->set_producer_id(ProducerId('p'));
    request.mutable_open()->set_epoch(1);
    return request.SerializeAsString();
  }
  if (!Writes(method)) return "";
  v1::IngestRequest request;
  request.mutable_open()->set_producer_id(ProducerId('p'));
  request.mutable_open()->set_epoch(1);
  *request.mutable_batch() = MakeBatch(1, {RunRecord('a')});
  return request.SerializeAsString();
}

// Returns the verdict on a call: admitted, or refused with one of two codes.
std::string AdmissionVerdict(const CallOutcome& outcome) {
  if (outcome.status.error_code() == grpc::StatusCode::UNAUTHENTICATED) return "unauthenticated";
  if (outcome.status.error_code() == grpc::StatusCode::PERMISSION_DENIED) return "denied";
  return "in";
}

struct Credential {
  std::string name;
  std::vector<std::string> authorization;
  std::string reading;
  std::string writing;
  std::string deleting = "denied";
  std::string caching = "denied";
  std::string modelling = "denied";

  const std::string& Verdict(const std::string& method) const {
    if (reading == "unauthenticated") return reading;
    if (Deletes(method)) return deleting;
    if (Caches(method)) return caching;
    if (ChangesModels(method)) return modelling;
    return Writes(method) ? writing : reading;
  }
};

class AuthorizationTest : public ::testing::Test {
 protected:
  std::string Bearer(access::Token token) { return "Bearer " + Secret(tokens_.Add(std::move(token))); }
  std::string Secret(std::string text) {
    secrets_.push_back(text);
    return text;
  }
  void ExpectNoSecretIn(const std::string& text) {
    for (const std::string& secret : secrets_) EXPECT_THAT(text, Not(HasSubstr(secret.substr(3))));
  }

  std::vector<Credential> AllCredentials() {
    const std::string good = Bearer({.name = "writer", .roles = {Role::kWriter}});
    std::string wrong = good;
    wrong.back() = wrong.back() == 'A' ? 'B' : 'A';
    Secret(wrong.substr(7));
    const absl::Time past = absl::Now() - absl::Seconds(1);
    return {
        {"no token", {}, "unauthenticated", "unauthenticated"},
        {"an empty one", {""}, "unauthenticated", "unauthenticated"},
        {"a wrong one", {wrong}, "unauthenticated", "unauthenticated"},
        {"a password", {"Basic dXNlcjpwYXNzd29yZA=="}, "unauthenticated", "unauthenticated"},
        {"two", {good, good}, "unauthenticated", "unauthenticated"},
        {"expired",
         {Bearer({.name = "old", .roles = {Role::kAdmin}, .expires = past})},
         "unauthenticated",
         "unauthenticated"},
        {"revoked",
         {Bearer({.name = "gone", .roles = {Role::kAdmin}, .revoked = past})},
         "unauthenticated",
         "unauthenticated"},
        {"reader", {Bearer({.name = "reader", .roles = {Role::kReader}})}, "in", "denied"},
        {"writer", {good}, "denied", "in"},
        {"writer of this producer",
         {Bearer({.name = "writer", .roles = {Role::kWriter}, .producers = {kHex}})},
         "denied",
         "in"},
        {"writer of another producer",
         {Bearer({.name = "other", .roles = {Role::kWriter}, .producers = {kOtherHex}})},
         "denied",
         "denied"},
        {"unbound writer, where another is bound",
         {Bearer({.name = "third", .roles = {Role::kWriter}})},
         "denied",
         "denied"},
        {"reader and writer", {Bearer({.name = "writer", .roles = {Role::kReader, Role::kWriter}})}, "in", "in"},
        {"deleter", {Bearer({.name = "operator", .roles = {Role::kDeleter}})}, "denied", "denied", "in"},
        {"cache writer",
         {Bearer({.name = "cache", .roles = {Role::kCacheWriter}})},
         "denied",
         "denied",
         "denied",
         "in"},
        {"model", {Bearer({.name = "trainer", .roles = {Role::kModel}})}, "denied", "denied", "denied", "denied", "in"},
        {"admin", {Bearer({.name = "writer", .roles = {Role::kAdmin}})}, "in", "in", "in", "in", "in"},
    };
  }

  TokenFolder tokens_;
  std::vector<std::string> secrets_;
};

TEST_F(AuthorizationTest, EveryMethodWithEveryCredential) {
  const access::LogCapture log;
  const std::vector<Credential> credentials = AllCredentials();
  const std::vector<std::string> methods = OwnMethods();
  ASSERT_GE(methods.size(), 16u);
  for (const Credential& credential : credentials) {
    CollectorStory story(ServerOptions{.tokens = tokens_.path()});
    for (const std::string& method : methods) {
      const CallOutcome outcome = CallAnything(story.channel(), method, RequestFor(method), credential.authorization);
      const std::string& expected = credential.Verdict(method);
      EXPECT_EQ(AdmissionVerdict(outcome), expected)
          << method << ", " << credential.name << ": " << outcome.status.error_message();
      EXPECT_TRUE(expected == "in" || outcome.responses == 0) << method << ", " << credential.name;
      ExpectNoSecretIn(outcome.status.error_message() + outcome.status.error_details());
    }
    const std::string let_in = credential.writing == "in" ? "1" : "0";
    EXPECT_EQ(story.Query("SELECT count(*) FROM producers"), let_in) << credential.name;
    EXPECT_EQ(story.Query("SELECT count(*) FROM runs"), let_in) << credential.name;
    EXPECT_EQ(story.Query("SELECT count(*) FROM rejects"), "0") << credential.name;
    EXPECT_EQ(AdmissionVerdict(CallAnything(story.channel(), kHealth, "", credential.authorization)), "in");
  }
  ExpectNoSecretIn(log.text());
  EXPECT_THAT(log.text(), ::testing::ContainsRegex("refused a call: .*method=/telemetry.v1.IngestService/Stream"));
}

TEST_F(AuthorizationTest, NothingElseIsServed) {
  const std::string admin = Bearer({.roles = {Role::kAdmin}});
  CollectorStory story(ServerOptions{.tokens = tokens_.path()});
  for (const char* method : {"/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
                             "/telemetry.v1.DatasetService/DropEverything", "/x/y"}) {
    EXPECT_EQ(CallAnything(story.channel(), method, "", {admin}).status.error_code(), grpc::StatusCode::UNIMPLEMENTED)
        << method;
  }
}

TEST_F(AuthorizationTest, WithoutATokenFileEveryoneMayDoEverythingButDelete) {
  CollectorStory story;
  for (const std::string& method : OwnMethods()) {
    EXPECT_EQ(AdmissionVerdict(CallAnything(story.channel(), method, RequestFor(method), {})),
              Deletes(method) ? "denied" : "in")
        << method;
  }
  EXPECT_TRUE(CallAnything(story.channel(), "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", "", {})
                  .status.ok());
}

TEST_F(AuthorizationTest, ARunThatIsNotThereIsNoWarning) {
  const access::LogCapture log;
  {
    CollectorStory story;
    v1::GetRunRequest request;
    request.set_run_id(std::string(64, 'a'));
    grpc::ClientContext context;
    v1::RunSummary run;
    const grpc::Status status = v1::DatasetService::NewStub(story.channel())->GetRun(&context, request, &run);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  }
  EXPECT_THAT(log.text(), AllOf(HasSubstr("[debug]"), HasSubstr("a call ended with an error"), HasSubstr("NOT_FOUND"),
                                Not(HasSubstr("[warning]"))));
}

TEST_F(AuthorizationTest, WhoCameInAndWhoDidNotIsLogged) {
  const access::LogCapture log;
  const std::string writer = tokens_.Add({.name = "ci-17\n", .roles = {Role::kWriter}});
  const std::string id = access::ReadTokens(tokens_.path())->front().id;
  CollectorStory story(ServerOptions{.tokens = tokens_.path()});
  {
    TestStream stream(story.channel(), writer);
    ASSERT_TRUE(stream.Open('p'));
    EXPECT_TRUE(stream.Finish().ok());
  }
  CallAnything(story.channel(), "/telemetry.v1.DatasetService/Export", "", {"Bearer " + writer});
  CallAnything(story.channel(), "/telemetry.v1.DatasetService/Export", "", {});
  const std::string text = log.text();
  EXPECT_THAT(text, HasSubstr(absl::StrCat("producer=", kHex)));
  EXPECT_THAT(text, HasSubstr(absl::StrCat("token=", id, " name=ci-17\\n")));
  EXPECT_THAT(text, HasSubstr("has the role writer; this needs reader"));
  EXPECT_THAT(text, HasSubstr("this needs a token"));
  EXPECT_THAT(text, Not(HasSubstr(writer.substr(3))));
}

TEST_F(AuthorizationTest, AProducerIsNotTakenOverByAnotherName) {
  const std::string owner = tokens_.Add({.name = "owner", .roles = {Role::kWriter}});
  const std::string renewed = tokens_.Add({.name = "owner", .roles = {Role::kWriter}});
  const std::string other = tokens_.Add({.name = "other", .roles = {Role::kWriter}});
  CollectorStory story(ServerOptions{.tokens = tokens_.path()});
  TestStream first(story.channel(), owner);
  ASSERT_TRUE(first.Open('p', 1));
  first.Send(MakeBatch(1, {RunRecord('a'), AttemptRecord('x', 'a')}));
  ASSERT_TRUE(first.AwaitAck(2));
  TestStream thief(story.channel(), other);
  EXPECT_FALSE(thief.Open('p', 99));
  const grpc::Status refused = thief.AwaitEnd();
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::PERMISSION_DENIED) << refused.error_message();
  // The attempt that the first name sent does not change either.
  TestStream elsewhere(story.channel(), other);
  ASSERT_TRUE(elsewhere.Open('q', 1));
  elsewhere.Send(MakeBatch(1, {Row('x', 1, 0.5)}));
  const auto ack = elsewhere.AwaitAck(1);
  ASSERT_TRUE(ack);
  ASSERT_EQ(ack->rejects_size(), 1);
  EXPECT_EQ(ack->rejects(0).reason(), v1::Reject::REASON_NOT_YOURS);
  // The first stream was not disturbed; a renewed token of its name resumes at its position.
  first.Send(MakeBatch(3, {Row('x', 1, 0.25)}));
  EXPECT_TRUE(first.AwaitAck(3));
  TestStream next(story.channel(), renewed);
  const auto opened = next.Open('p', 2);
  ASSERT_TRUE(opened);
  EXPECT_EQ(opened->committed_seq(), 3u);
}

// Returns all that an export contains, except arrival times.
std::string ExportFrom(CollectorStory& story, const std::string& reader) {
  grpc::ClientContext context;
  context.AddMetadata("authorization", "Bearer " + reader);
  v1::ExportRequest request;
  request.set_details(true);
  const auto items = v1::DatasetService::NewStub(story.channel())->Export(&context, request);
  std::string text;
  v1::ExportItem item;
  while (items->Read(&item)) {
    if (item.has_attempt()) item.mutable_attempt()->clear_first_received_unix_us();
    text += item.DebugString();
  }
  const grpc::Status status = items->Finish();
  EXPECT_TRUE(status.ok()) << status.error_message();
  return text;
}

TEST_F(AuthorizationTest, WhatAnotherSaysUnderTheSameIdsChangesNothing) {
  const std::string owner = tokens_.Add({.name = "owner", .roles = {Role::kWriter}});
  const std::string forger = tokens_.Add({.name = "forger", .roles = {Role::kWriter}});
  const std::string reader = tokens_.Add({.name = "reader", .roles = {Role::kReader}});
  const std::vector<v1::Record> records = {RunRecord('a'), AttemptRecord('x', 'a'), ConfigRecord(7, "Config(n=4)"),
                                           Row('x', 1, 0.5)};
  v1::Record other_run = RunRecord('a');
  other_run.mutable_run()->set_kernel_name("evil");
  other_run.mutable_run()->set_hardware("A100");
  v1::Record run_config;
  run_config.mutable_run_config()->set_run_id(storage::RunId('a'));
  run_config.mutable_run_config()->set_config_id(7);
  run_config.mutable_run_config()->set_decorator("@evil");
  const std::vector<v1::Record> forged = {other_run, ConfigRecord(7, "Config(n=666)"), run_config};

  std::vector<std::string> exports;
  for (const std::vector<std::string>& order :
       {std::vector<std::string>{owner}, {owner, forger}, {forger, owner}, {forger, owner, forger}}) {
    CollectorStory story(ServerOptions{.tokens = tokens_.path()});
    char producer = 'p';
    for (const std::string& token : order) {
      TestStream stream(story.channel(), token);
      ASSERT_TRUE(stream.Open(producer++));
      const std::vector<v1::Record>& sent = token == owner ? records : forged;
      stream.Send(MakeBatch(1, sent));
      const auto ack = stream.AwaitAck(sent.size());
      ASSERT_TRUE(ack);
      EXPECT_EQ(ack->rejects_size(), 0) << ack->DebugString();
    }
    exports.push_back(ExportFrom(story, reader));
  }
  EXPECT_THAT(exports.front(), HasSubstr("Config(n=4)"));
  EXPECT_THAT(exports, ::testing::Each(exports.front()));
}

TEST_F(AuthorizationTest, ARevokedTokensStreamEnds) {
  const std::string keeps = tokens_.Add({.name = "keeps", .roles = {Role::kWriter}});
  const std::string loses = tokens_.Add({.name = "loses", .roles = {Role::kWriter}});
  CollectorStory story(ServerOptions{.tokens = tokens_.path()});
  TestStream stays(story.channel(), keeps);
  ASSERT_TRUE(stays.Open('p'));
  TestStream goes(story.channel(), loses);
  ASSERT_TRUE(goes.Open('q'));
  goes.Send(MakeBatch(1, {RunRecord('a')}));
  ASSERT_TRUE(goes.AwaitAck(1));
  tokens_.Revoke("loses");
  const SteadyTime revoked = SteadyNow();
  const grpc::Status end = goes.AwaitEnd();
  EXPECT_LT(ElapsedSince(revoked), absl::Seconds(2));
  EXPECT_EQ(end.error_code(), grpc::StatusCode::UNAUTHENTICATED) << end.error_message();
  EXPECT_THAT(end.error_message(), HasSubstr("revoked"));
  TestStream again(story.channel(), loses);
  EXPECT_FALSE(again.Open('q'));
  stays.Send(MakeBatch(1, {RunRecord('b')}));
  EXPECT_TRUE(stays.AwaitAck(1));
}

// A disk whose free space cannot be read while it stalls. The writer reads the free space before each transaction.
class StallingDisk {
 public:
  void Stall() { Set(false); }
  void GoOn() { Set(true); }
  uint64_t FreeBytes() {
    const absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(&goes_on_));
    return uint64_t{1} << 40;
  }

 private:
  void Set(bool goes_on) {
    const absl::MutexLock lock(&mutex_);
    goes_on_ = goes_on;
  }

  absl::Mutex mutex_;
  bool goes_on_ ABSL_GUARDED_BY(mutex_) = true;
};

// The batch of one stream waits for the disk, the batch of another stream for room in memory, and a unary call for the
// disk.
TEST_F(AuthorizationTest, CallsOfARevokedTokenThatWaitEndAtOnce) {
  const access::LogCapture log;
  const std::string keeps = tokens_.Add({.name = "keeps", .roles = {Role::kWriter}});
  const std::string loses = tokens_.Add({.name = "loses", .roles = {Role::kWriter}});
  StallingDisk disk;
  CollectorStory story(ServerOptions{.tokens = tokens_.path(),
                                     .limits = {.in_flight_bytes = 1, .admission_timeout = absl::Seconds(30)},
                                     .free_disk_bytes = [&disk](const std::string&) { return disk.FreeBytes(); }});
  TestStream stays(story.channel(), keeps);
  ASSERT_TRUE(stays.Open('p'));
  TestStream goes(story.channel(), loses);
  ASSERT_TRUE(goes.Open('q'));
  disk.Stall();
  stays.Send(MakeBatch(1, {RunRecord('a')}));
  goes.Send(MakeBatch(1, {RunRecord('b')}));
  const std::string method = "/telemetry.v1.IngestService/Ingest";
  CallOutcome unary;
  std::thread call([&] { unary = CallAnything(story.channel(), method, RequestFor(method), {"Bearer " + loses}); });
  while (log.Count("admitted a producer") < 3) continue;
  tokens_.Revoke("loses");
  const SteadyTime revoked = SteadyNow();
  const grpc::Status end = goes.AwaitEnd();
  EXPECT_EQ(end.error_code(), grpc::StatusCode::UNAUTHENTICATED) << end.error_message();
  call.join();
  EXPECT_EQ(unary.status.error_code(), grpc::StatusCode::UNAUTHENTICATED) << unary.status.error_message();
  EXPECT_LT(ElapsedSince(revoked), absl::Seconds(2));
  disk.GoOn();
  EXPECT_TRUE(stays.AwaitAck(1));
}

TEST_F(AuthorizationTest, NobodyIsLetInAfterAMinuteWithoutTheTokenFile) {
  std::atomic<int64_t> seconds = 0;
  const std::string token = tokens_.Add({.name = "reader", .roles = {Role::kReader}});
  CollectorStory story(ServerOptions{.tokens = tokens_.path(), .token_clock = [&seconds, begin = SteadyNow()] {
                                       return begin + std::chrono::seconds(seconds);
                                     }});
  const auto list = [&] {
    return CallAnything(story.channel(), "/telemetry.v1.DatasetService/ListRuns", "", {"Bearer " + token}).status;
  };
  const auto health = [&] { return CallAnything(story.channel(), kHealth, "").response; };
  const std::string hidden = tokens_.path() + ".hidden";
  std::filesystem::rename(tokens_.path(), hidden);
  seconds = 60;
  EXPECT_TRUE(list().ok());
  EXPECT_EQ(health(), "\x08\x01") << "serving";
  seconds = 61;
  // The watch checks the file twice a second.
  grpc::Status status;
  while (status.ok()) status = list();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE) << status.error_message();
  EXPECT_THAT(status.error_message(), HasSubstr("token file"));
  while (health() != "\x08\x02") continue;
  std::filesystem::rename(hidden, tokens_.path());
  while (!list().ok()) continue;
  while (health() != "\x08\x01") continue;
}

TEST_F(AuthorizationTest, AnExpiredTokensStreamEnds) {
  // The lifetime is long enough to start the server and the stream on a busy machine.
  const std::string token =
      tokens_.Add({.name = "short", .roles = {Role::kWriter}, .expires = absl::Now() + absl::Seconds(8)});
  CollectorStory story(ServerOptions{.tokens = tokens_.path()});
  TestStream stream(story.channel(), token);
  ASSERT_TRUE(stream.Open('p'));
  EXPECT_EQ(stream.AwaitEnd().error_code(), grpc::StatusCode::UNAUTHENTICATED);
}

}  // namespace
}  // namespace telemetry::collector
