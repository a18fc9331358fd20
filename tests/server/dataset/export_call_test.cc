// Tests exports whose clients read slowly or not at all, or lose their authorization.

#include <gmock/gmock.h>
#include <grpcpp/client_context.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "telemetry/v1/dataset.grpc.pb.h"
#include "tests/server/access/log_capture.h"
#include "tests/server/collector/collector_story.h"
#include "tests/server/collector/token_folder.h"

namespace telemetry::collector {
namespace {

using access::Role;
using storage::AttemptRecord;
using storage::Row;
using storage::RunRecord;

// An export whose client reads only as many messages as requested.
class TestExport {
 public:
  explicit TestExport(const std::shared_ptr<grpc::Channel>& channel, const std::string& token = "")
      : stub_(v1::DatasetService::NewStub(channel)) {
    context_.set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(60)));
    if (!token.empty()) context_.AddMetadata("authorization", "Bearer " + token);
    reader_ = stub_->Export(&context_, {});
  }
  ~TestExport() {
    if (finished_) return;
    context_.TryCancel();
    reader_->Finish();
  }

  bool ReadOne() {
    v1::ExportItem item;
    return reader_->Read(&item);
  }
  grpc::Status ReadAll() {
    while (ReadOne()) {
    }
    finished_ = true;
    return reader_->Finish();
  }

 private:
  const std::unique_ptr<v1::DatasetService::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReader<v1::ExportItem>> reader_;
  bool finished_ = false;
};

// Blocks until the condition is true, for a minute at most.
template <typename Condition>
bool Eventually(Condition condition) {
  const absl::Time deadline = absl::Now() + absl::Minutes(1);
  while (absl::Now() < deadline) {
    if (condition()) return true;
    absl::SleepFor(absl::Milliseconds(10));
  }
  return condition();
}

class ExportCallTest : public ::testing::Test {
 protected:
  // Stores records for some items, each of which waits for its reader.
  void Fill(const std::string& token = "") {
    TestStream stream(story_->channel(), token);
    ASSERT_TRUE(stream.Open('p'));
    stream.Send(MakeBatch(1, {RunRecord('a'), AttemptRecord('x', 'a'), Row('x', 1, 1), RunRecord('b'),
                              AttemptRecord('y', 'b'), Row('y', 1, 1)}));
    ASSERT_TRUE(stream.AwaitAck(6));
  }
  std::shared_ptr<grpc::Channel> channel() { return story_->channel(); }

  TokenFolder tokens_;
  std::optional<CollectorStory> story_;
};

TEST_F(ExportCallTest, WhoDoesNotReadKeepsNobodyFromReading) {
  story_.emplace();
  Fill();
  std::vector<std::unique_ptr<TestExport>> stuck;
  for (int i = 0; i < 16; ++i) {
    stuck.push_back(std::make_unique<TestExport>(channel()));
    if (i < 4) {
      EXPECT_TRUE(stuck.back()->ReadOne());
    }
  }
  const grpc::Status status = TestExport(channel()).ReadAll();
  EXPECT_TRUE(status.ok()) << status.error_code() << ": " << status.error_message();
}

TEST_F(ExportCallTest, OneThatTakesTooLongEnds) {
  story_.emplace(call::Limits{.export_timeout = absl::ZeroDuration()});
  Fill();
  // Timeouts are checked periodically; sooner or later a check happens during an export.
  grpc::Status status;
  for (int attempt = 0; attempt < 10000 && status.ok(); ++attempt) status = TestExport(channel()).ReadAll();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_THAT(status.error_message(), ::testing::HasSubstr("--export-timeout"));
}

TEST_F(ExportCallTest, OneOfARevokedTokenEnds) {
  const access::LogCapture log;
  const std::string writer = tokens_.Add({.name = "writer", .roles = {Role::kWriter}});
  const std::string reader = tokens_.Add({.name = "reader", .roles = {Role::kReader}});
  story_.emplace(ServerOptions{.tokens = tokens_.path()});
  Fill(writer);
  TestExport running(channel(), reader);
  ASSERT_TRUE(running.ReadOne());
  tokens_.Revoke("reader");
  const SteadyTime revoked = SteadyNow();
  EXPECT_TRUE(Eventually([&] { return log.Count("was revoked") > 0; })) << "the export continues\n" << log.text();
  EXPECT_FALSE(running.ReadAll().ok());
  EXPECT_LT(ElapsedSince(revoked), absl::Seconds(2));
}

}  // namespace
}  // namespace telemetry::collector
