// Tests ModelService on a running collector: roles, senders, hostile requests, floods.

#include <gmock/gmock.h>
#include <grpcpp/client_context.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "server/models/model_limits.h"
#include "telemetry/v1/models.grpc.pb.h"
#include "tests/server/collector/any_call.h"
#include "tests/server/collector/collector_story.h"
#include "tests/server/collector/token_folder.h"
#include "tests/server/storage/model_files.h"

namespace telemetry::collector {
namespace {

using access::Role;
using storage::ModelFile;
using storage::ModelPart;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

class ModelServiceTest : public ::testing::Test {
 protected:
  ModelServiceTest()
      : a_(tokens_.Add({.name = "a", .roles = {Role::kReader, Role::kModel}})),
        b_(tokens_.Add({.name = "b", .roles = {Role::kModel}})),
        cache_writer_(tokens_.Add({.name = "a", .roles = {Role::kWriter, Role::kCacheWriter, Role::kDeleter}})),
        admin_(tokens_.Add({.name = "root", .roles = {Role::kAdmin}})) {
    Serve({});
  }
  void Serve(const call::Limits& limits) {
    story_.emplace(ServerOptions{.tokens = tokens_.path(), .limits = limits});
    stub_ = v1::ModelService::NewStub(story_->channel());
  }

  template <typename Request, typename Response>
  grpc::Status Call(grpc::Status (v1::ModelService::Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                    const std::string& token, const Request& request, Response* response) {
    grpc::ClientContext context;
    context.set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(60)));
    context.AddMetadata("authorization", "Bearer " + token);
    return ((*stub_).*method)(&context, request, response);
  }
  grpc::Status Put(const std::string& token, const v1::PutModelRequest& part) {
    v1::PutModelResponse response;
    return Call(&v1::ModelService::Stub::Put, token, part, &response);
  }
  grpc::Status Remove(const std::string& token, const std::string& file, const std::string& sender = "") {
    v1::RemoveModelRequest request;
    request.set_sha256(record::Sha256(file));
    request.set_sender(sender);
    v1::RemoveModelResponse response;
    return Call(&v1::ModelService::Stub::Remove, token, request, &response);
  }
  // Returns the senders of all models, the newest first.
  std::vector<std::string> Senders() {
    v1::ListModelsResponse page;
    const grpc::Status status = Call(&v1::ModelService::Stub::List, a_, v1::ListModelsRequest(), &page);
    EXPECT_TRUE(status.ok()) << status.error_message();
    std::vector<std::string> senders;
    for (const v1::StoredModel& model : page.models()) senders.push_back(model.sender());
    return senders;
  }

  TokenFolder tokens_;
  const std::string a_;
  const std::string b_;
  const std::string cache_writer_;
  const std::string admin_;
  std::optional<CollectorStory> story_;
  std::unique_ptr<v1::ModelService::Stub> stub_;
};

TEST_F(ModelServiceTest, StoringNeedsTheRoleModelAndReadingTheRoleReader) {
  const std::string file = ModelFile("t");
  const grpc::Status refused = Put(cache_writer_, ModelPart(file));
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_THAT(refused.error_message(), HasSubstr("this needs model"));
  EXPECT_EQ(Remove(cache_writer_, file).error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_TRUE(Put(b_, ModelPart(file)).ok());
  v1::ReadModelRequest read;
  read.set_sha256(record::Sha256(file));
  read.set_sender("token b");
  v1::ReadModelResponse response;
  EXPECT_EQ(Call(&v1::ModelService::Stub::Read, b_, read, &response).error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_TRUE(Call(&v1::ModelService::Stub::Read, a_, read, &response).ok());
  EXPECT_EQ(response.data(), file);
  read.set_part(1);
  EXPECT_EQ(Call(&v1::ModelService::Stub::Read, a_, read, &response).error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(ModelServiceTest, OnlyTheSenderAndAnAdministratorRemoveAModel) {
  const std::string file = ModelFile("t");
  ASSERT_TRUE(Put(a_, ModelPart(file)).ok());
  ASSERT_TRUE(Put(b_, ModelPart(file)).ok());
  EXPECT_EQ(Remove(b_, file, "token a").error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_TRUE(Remove(b_, file).ok());
  EXPECT_EQ(Remove(b_, file).error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_THAT(Senders(), ElementsAre("token a"));
  EXPECT_TRUE(Remove(admin_, file, "token a").ok());
  EXPECT_THAT(Senders(), ElementsAre());
}

TEST_F(ModelServiceTest, FieldsOutsideTheirLimitsAreRefused) {
  const std::string file = ModelFile(std::string(1 << 21, 't'));
  std::vector<v1::PutModelRequest> wrong(7, ModelPart(file));
  wrong[0].set_sha256("short");
  wrong[1].set_size_bytes(0);
  wrong[2].set_part(3);
  wrong[3].mutable_data()->pop_back();
  wrong[4].clear_data();
  wrong[5].set_size_bytes(10);
  wrong[6].set_part(0xffffffff);
  for (const v1::PutModelRequest& part : wrong) {
    EXPECT_EQ(Put(a_, part).error_code(), grpc::StatusCode::INVALID_ARGUMENT) << part.part();
  }
  v1::PutModelRequest huge = ModelPart(file);
  huge.set_size_bytes(uint64_t{1} << 63);
  EXPECT_EQ(Put(a_, huge).error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  v1::ListModelsRequest list;
  v1::ListModelsResponse page;
  list.set_feature_version(-1);
  EXPECT_EQ(Call(&v1::ModelService::Stub::List, a_, list, &page).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  list = {};
  list.set_sender(std::string("a\0b", 3));
  EXPECT_EQ(Call(&v1::ModelService::Stub::List, a_, list, &page).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  list.set_sender(std::string(models::kMaxSenderBytes + 1, 's'));
  EXPECT_EQ(Call(&v1::ModelService::Stub::List, a_, list, &page).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(story_->Query("SELECT count(*) FROM models"), "0");
}

TEST_F(ModelServiceTest, AHugeRequestIsRefusedUnparsed) {
  const std::string huge(3 << 20, 'x');
  for (const char* method : {"Put", "List", "Read", "Remove"}) {
    const CallOutcome outcome = CallAnything(story_->channel(), absl::StrCat("/telemetry.v1.ModelService/", method),
                                             huge, {"Bearer " + admin_});
    EXPECT_EQ(outcome.status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << method;
    EXPECT_EQ(outcome.responses, 0);
  }
}

TEST_F(ModelServiceTest, AFloodOfModelsRemovesNothingOfOthersAndIsSlowedDown) {
  call::Limits limits;
  limits.models = {.total_bytes = uint64_t{8} << 20, .sender_bytes = uint64_t{4} << 20};
  Serve(limits);
  ASSERT_TRUE(Put(a_, ModelPart(ModelFile("of a"))).ok());
  int refused = 0;
  for (int i = 0; i < 60; ++i) {
    const grpc::Status status = Put(b_, ModelPart(ModelFile(absl::StrCat(i, std::string(900'000, 't')))));
    if (status.ok()) continue;
    ++refused;
    EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED) << status.error_message();
    EXPECT_THAT(status.error_message(), HasSubstr("models"));
    EXPECT_GT(RetrySeconds(status), 0);
  }
  EXPECT_GT(refused, 0);
  EXPECT_THAT(Senders(), IsSupersetOf({"token a"}));
  EXPECT_EQ(Senders().size(), 5u);
  EXPECT_EQ(story_->Query("SELECT sum(size_bytes) <= 4194304 FROM models WHERE sender = 'token b'"), "1");
  EXPECT_TRUE(Put(a_, ModelPart(ModelFile("another of a"))).ok());
}

TEST_F(ModelServiceTest, ARequestThatDoesNotComeEndsTheCall) {
  call::Limits limits;
  limits.open_timeout = absl::Milliseconds(50);
  story_.reset();
  story_.emplace(limits);
  for (const char* method : {"Put", "List", "Read", "Remove"}) {
    SilentCall call(story_->channel(), absl::StrCat("/telemetry.v1.ModelService/", method));
    EXPECT_EQ(call.AwaitEnd().error_code(), grpc::StatusCode::DEADLINE_EXCEEDED) << method;
  }
}

}  // namespace
}  // namespace telemetry::collector
