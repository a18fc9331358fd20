// Tests that a collector survives the loss of its PostgreSQL server: it reports the loss, accepts nothing meanwhile,
// and resumes by itself. Also tests how many sessions it uses.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "server/collector/collector_server.h"
#include "server/storage/postgresql/connection.h"
#include "telemetry/v1/dataset.grpc.pb.h"
#include "tests/server/collector/any_call.h"
#include "tests/server/collector/collector_story.h"
#include "tests/server/storage/test_dataset.h"

namespace telemetry::collector {
namespace {

using storage::RunRecord;

constexpr char kServing[] = "\x08\x01";
constexpr char kNotServing[] = "\x08\x02";

class AwayTest : public ::testing::Test {
 protected:
  AwayTest()
      : server_(*CollectorServer::Start(
            {.db = dataset_->db(), .on_fatal = [this](const absl::Status&) { ++fatal_errors_; }})) {}

  std::string Health(const std::string& service) {
    std::string request;
    if (!service.empty()) request = std::string("\x0a") + static_cast<char>(service.size()) + service;
    return CallAnything(channel_, "/grpc.health.v1.Health/Check", request).response;
  }
  // Makes the database refuse connections and terminates the existing ones.
  void TakeAway() {
    name_ = dataset_->Query("SELECT current_database()");
    OnServer(absl::StrCat("ALTER DATABASE ", name_, " ALLOW_CONNECTIONS false"));
    OnServer(absl::StrCat("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '", name_, "'"));
    while (Health("") != kNotServing) continue;
  }
  void GiveBack() {
    OnServer(absl::StrCat("ALTER DATABASE ", name_, " ALLOW_CONNECTIONS true"));
    while (Health("") != kServing) continue;
  }
  grpc::Status ListRuns() {
    grpc::ClientContext context;
    v1::ListRunsResponse response;
    return v1::DatasetService::NewStub(channel_)->ListRuns(&context, {}, &response);
  }

  grpc::Status Export() {
    grpc::ClientContext context;
    const auto stream = v1::DatasetService::NewStub(channel_)->Export(&context, {});
    v1::ExportItem item;
    while (stream->Read(&item)) continue;
    return stream->Finish();
  }

  const std::unique_ptr<storage::TestDataset> dataset_ = storage::NewPostgresqlDataset();
  std::atomic<int> fatal_errors_ = 0;
  const std::unique_ptr<CollectorServer> server_;
  const std::shared_ptr<grpc::Channel> channel_ = server_->InProcessChannel();

 private:
  static void OnServer(const std::string& sql) {
    storage::postgresql::PgConnection connection(std::getenv("TELEMETRY_TEST_POSTGRESQL"));
    ASSERT_TRUE(connection.Connect().ok());
    const absl::Status status = connection.Execute(sql.c_str()).status();
    ASSERT_TRUE(status.ok()) << status;
  }

  std::string name_;
};

TEST_F(AwayTest, NothingIsServedMeanwhileAndNothingIsLost) {
  TestStream stream(channel_);
  ASSERT_TRUE(stream.Open('p'));
  stream.Send(MakeBatch(1, {RunRecord('a')}));
  ASSERT_TRUE(stream.AwaitAck(1));

  TakeAway();
  EXPECT_EQ(Health(v1::DatasetService::service_full_name()), kNotServing);
  EXPECT_EQ(ListRuns().error_code(), grpc::StatusCode::UNAVAILABLE);
  stream.Send(MakeBatch(2, {RunRecord('b')}));
  EXPECT_EQ(stream.AwaitEnd().error_code(), grpc::StatusCode::UNAVAILABLE);

  GiveBack();
  TestStream again(channel_);
  const std::optional<v1::Opened> opened = again.Open('p');
  ASSERT_TRUE(opened);
  EXPECT_EQ(opened->committed_seq(), 1u);
  again.Send(MakeBatch(2, {RunRecord('b')}));
  EXPECT_TRUE(again.AwaitAck(2));
  EXPECT_TRUE(ListRuns().ok());
  EXPECT_EQ(dataset_->Query("SELECT count(*) FROM runs"), "2");
  EXPECT_EQ(fatal_errors_, 0);
}

TEST_F(AwayTest, ExportsComeAgainOverANewConnection) {
  ASSERT_TRUE(Export().ok());
  TakeAway();
  GiveBack();
  const grpc::Status status = Export();
  EXPECT_TRUE(status.ok()) << status.error_message();
}

TEST_F(AwayTest, AQuestionUsesTheSessionOfTheOneBefore) {
  // Both counts use one connection, because the server may still count a connection that was just closed. Backends of
  // the server itself, such as autovacuum workers, are excluded.
  constexpr char kSessions[] =
      "SELECT count(*) || ', the youngest of ' || max(backend_start) FROM pg_stat_activity "
      "WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'";
  storage::postgresql::PgConnection connection(dataset_->db());
  ASSERT_TRUE(connection.Connect().ok());
  const auto sessions = [&] {
    const absl::StatusOr<storage::postgresql::PgResult> result = connection.Execute(kSessions);
    return result.ok() ? std::string(PQgetvalue(result->get(), 0, 0)) : result.status().ToString();
  };
  ASSERT_TRUE(ListRuns().ok());
  const std::string before = sessions();
  EXPECT_THAT(before, ::testing::StartsWith("2,")) << "one session of the writer and one of a reader";
  for (int question = 0; question < 20; ++question) ASSERT_TRUE(ListRuns().ok());
  EXPECT_EQ(sessions(), before);
}

}  // namespace
}  // namespace telemetry::collector
