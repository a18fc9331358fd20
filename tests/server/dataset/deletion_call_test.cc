// Tests deletions over gRPC: authorization, steps, and the ways in which they end.

#include <gmock/gmock.h>
#include <grpcpp/client_context.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "telemetry/v1/deletion.grpc.pb.h"
#include "tests/server/access/log_capture.h"
#include "tests/server/collector/collector_story.h"
#include "tests/server/collector/token_folder.h"

namespace telemetry::collector {
namespace {

using access::Role;
using storage::AttemptRecord;
using storage::Row;
using storage::RunId;
using storage::RunRecord;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// A deletion whose client reads only as many messages as requested.
class TestDeletion {
 public:
  TestDeletion(const std::shared_ptr<grpc::Channel>& channel, const std::string& token,
               const v1::DeleteRequest& request)
      : stub_(v1::DeletionService::NewStub(channel)) {
    context_.set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(60)));
    if (!token.empty()) context_.AddMetadata("authorization", "Bearer " + token);
    reader_ = stub_->Delete(&context_, request);
  }

  bool ReadOne() {
    v1::DeleteStep step;
    if (!reader_->Read(&step)) return false;
    attempts_ += step.attempts_size();
    return true;
  }
  grpc::Status ReadAll() {
    while (ReadOne()) {
    }
    return reader_->Finish();
  }
  grpc::Status Cancel() {
    context_.TryCancel();
    return ReadAll();
  }
  // Returns the number of attempts in the messages that were read.
  int attempts() const { return attempts_; }

 private:
  const std::unique_ptr<v1::DeletionService::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReader<v1::DeleteStep>> reader_;
  int attempts_ = 0;
};

v1::DeleteRequest Origin(const std::string& origin) {
  v1::DeleteRequest request;
  request.add_origins(origin);
  return request;
}

class DeletionCallTest : public ::testing::Test {
 protected:
  // Enough attempts for many steps.
  static constexpr int kAttempts = 1500;

  DeletionCallTest() { story_.emplace(ServerOptions{.tokens = tokens_.path()}); }

  // Stores attempts of one origin with a row each, and one attempt of another origin.
  void Fill(int attempts) {
    TestStream stream(story_->channel(), writer_);
    ASSERT_TRUE(stream.Open('p'));
    std::vector<v1::Record> records = {RunRecord('a'), RunRecord('b'), AttemptRecord('z', 'b'), Row('z', 1, 1)};
    for (int i = 0; i < attempts; ++i) {
      std::string id = absl::StrCat("x ", i);
      id.resize(16, '.');
      v1::Attempt& attempt = *records.emplace_back(AttemptRecord('x', 'a')).mutable_attempt();
      attempt.set_attempt_id(id);
      attempt.set_origin("ci/1");
      records.emplace_back(Row('x', 1, 1)).mutable_measurement()->set_attempt_id(id);
    }
    stream.Send(MakeBatch(1, records));
    ASSERT_TRUE(stream.AwaitAck(records.size()));
  }

  grpc::Status Delete(const std::string& token, const v1::DeleteRequest& request) {
    return TestDeletion(story_->channel(), token, request).ReadAll();
  }

  // Blocks until the audit line of a deletion is logged.
  void AwaitAudit() {
    const absl::Time deadline = absl::Now() + absl::Minutes(1);
    while (log_.Count("deleted from the dataset") == 0 && absl::Now() < deadline) absl::SleepFor(absl::Milliseconds(5));
    EXPECT_EQ(log_.Count("deleted from the dataset"), 1u) << log_.text();
  }

  // Expects that every attempt exists with its row or was deleted with it, and that the audit line contains the number
  // of deleted attempts.
  void ExpectWholeAttempts() {
    const int64_t left = std::stoll(story_->Query("SELECT count(*) FROM attempts WHERE origin = 'ci/1'"));
    EXPECT_EQ(story_->Query("SELECT count(*) FROM measurements"), absl::StrCat(left + 1));
    EXPECT_EQ(story_->Query("SELECT count(DISTINCT attempt) FROM measurements"), absl::StrCat(left + 1));
    EXPECT_GT(left, 0) << "the deletion ran to its end";
    EXPECT_THAT(log_.text(), HasSubstr(absl::StrCat("attempts=", kAttempts - left, " ")));
    EXPECT_THAT(log_.text(), HasSubstr("ended_early="));
  }

  const access::LogCapture log_;
  TokenFolder tokens_;
  const std::string writer_ = tokens_.Add({.name = "writer", .roles = {Role::kWriter, Role::kReader}});
  const std::string deleter_ = tokens_.Add({.name = "operator", .roles = {Role::kDeleter}});
  std::optional<CollectorStory> story_;
};

TEST_F(DeletionCallTest, WhatIsNamedGoesAndTheLogSaysByWhom) {
  Fill(250);
  TestDeletion deletion(story_->channel(), deleter_, Origin("ci/1"));
  const grpc::Status status = deletion.ReadAll();
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(deletion.attempts(), 250);
  EXPECT_EQ(story_->Query("SELECT count(*) FROM attempts"), "1");
  EXPECT_EQ(story_->Query("SELECT run_id FROM runs"), RunId('b'));
  AwaitAudit();
  EXPECT_THAT(log_.text(), ::testing::ContainsRegex("deleted from the dataset: by=operator token=[0-9a-f]+ peer=.* "
                                                    "request_id=.* origins=ci/1 attempts=250 rows=250 runs=1\n"));
  EXPECT_THAT(log_.text(), AllOf(HasSubstr("admitted a deleter"), Not(HasSubstr(deleter_.substr(3)))));
}

TEST_F(DeletionCallTest, OthersMayNot) {
  Fill(1);
  EXPECT_EQ(Delete(writer_, Origin("ci/1")).error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(Delete("", Origin("ci/1")).error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(story_->Query("SELECT count(*) FROM attempts"), "2");
}

TEST_F(DeletionCallTest, ACollectorWithoutTokensRefuses) {
  CollectorStory open;
  const grpc::Status status = TestDeletion(open.channel(), "", Origin("ci/1")).ReadAll();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_THAT(status.error_message(), AllOf(HasSubstr("--tokens"), HasSubstr("--db")));
}

TEST_F(DeletionCallTest, ADryRunOnlySaysWhatWouldGo) {
  Fill(250);
  v1::DeleteRequest request = Origin("ci/1");
  request.set_dry_run(true);
  TestDeletion deletion(story_->channel(), deleter_, request);
  EXPECT_TRUE(deletion.ReadAll().ok());
  EXPECT_EQ(deletion.attempts(), 250);
  EXPECT_EQ(story_->Query("SELECT count(*) FROM attempts"), "251");
  EXPECT_EQ(log_.Count("deleted from the dataset"), 0u);
}

TEST_F(DeletionCallTest, AMistypedNameIsCorrected) {
  Fill(1);
  const grpc::Status status = Delete(deleter_, Origin("ci/l"));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_THAT(status.error_message(), HasSubstr("did you mean ci/1?"));
}

TEST_F(DeletionCallTest, ItEndsWhenItsTokenIsRevoked) {
  Fill(kAttempts);
  TestDeletion deletion(story_->channel(), deleter_, Origin("ci/1"));
  ASSERT_TRUE(deletion.ReadOne());
  tokens_.Revoke("operator");
  AwaitAudit();
  EXPECT_FALSE(deletion.ReadAll().ok());
  ExpectWholeAttempts();
  EXPECT_THAT(log_.text(), HasSubstr("was revoked"));
}

TEST_F(DeletionCallTest, OneThatIsCancelledLeavesWholeAttempts) {
  Fill(kAttempts);
  TestDeletion deletion(story_->channel(), deleter_, Origin("ci/1"));
  ASSERT_TRUE(deletion.ReadOne());
  EXPECT_EQ(deletion.Cancel().error_code(), grpc::StatusCode::CANCELLED);
  AwaitAudit();
  ExpectWholeAttempts();
}

TEST_F(DeletionCallTest, ADrainEndsIt) {
  Fill(kAttempts);
  TestDeletion deletion(story_->channel(), deleter_, Origin("ci/1"));
  ASSERT_TRUE(deletion.ReadOne());
  story_->server().Drain(absl::Seconds(60));
  EXPECT_FALSE(deletion.ReadAll().ok());
  AwaitAudit();
  ExpectWholeAttempts();
}

TEST_F(DeletionCallTest, AStreamGoesOnBesideIt) {
  Fill(kAttempts);
  TestStream stream(story_->channel(), writer_);
  ASSERT_TRUE(stream.Open('q'));
  TestDeletion deletion(story_->channel(), deleter_, Origin("ci/1"));
  uint64_t seq = 0;
  do {
    stream.Send(MakeBatch(seq + 1, {Row('z', seq + 2, 1)}));
    const std::optional<v1::Ack> ack = stream.AwaitAck(++seq);
    ASSERT_TRUE(ack);
    EXPECT_EQ(ack->rejects_size(), 0);
  } while (deletion.ReadOne());
  EXPECT_TRUE(deletion.ReadAll().ok());
  EXPECT_EQ(deletion.attempts(), kAttempts);
  EXPECT_EQ(story_->Query("SELECT count(*) FROM measurements"), absl::StrCat(seq + 1));
}

}  // namespace
}  // namespace telemetry::collector
