// Tests one writer on a server that fails at various points.

#include "server/storage/postgresql/pg_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <libpq-fe.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/storage/postgresql/connection.h"
#include "server/storage/postgresql/postgresql_store.h"
#include "tests/proxy/commit_proxy.h"
#include "tests/server/storage/dataset_story.h"
#include "tests/server/storage/test_dataset.h"

namespace {
// The number of descriptions of prepared statements until one fails; 0: none fails.
int until_failure = 0;
}  // namespace

extern "C" {
PGresult* __real_PQdescribePrepared(PGconn* connection, const char* name);
// Fails like a statement that the server cancels.
PGresult* __wrap_PQdescribePrepared(PGconn* connection, const char* name) {
  if (until_failure == 0 || --until_failure > 0) return __real_PQdescribePrepared(connection, name);
  return PQexec(connection, "DO $$ BEGIN RAISE EXCEPTION 'canceled' USING ERRCODE = 'query_canceled'; END $$");
}
}

namespace telemetry::storage::postgresql {
namespace {

using ::testing::IsEmpty;

class PgWriterTest : public ::testing::Test {
 protected:
  PgWriterTest() : writer_(*OpenPostgresqlWriter(proxy_.url(), {.patience = absl::Seconds(20)})) {
    EXPECT_EQ(*writer_->OpenProducer(producer_id_, 1, "test"), 0u);
    Send(1, {RunRecord('a'), AttemptRecord('x', 'a')});
  }

  absl::StatusOr<std::vector<BatchOutcome>> TrySend(uint64_t first_seq, const std::vector<v1::Record>& records) {
    ProducerBatch batch = {.producer_id = producer_id_, .epoch = 1, .first_seq = first_seq};
    AddRecords(records, &batch);
    return writer_->CommitBatches({batch});
  }
  BatchOutcome Send(uint64_t first_seq, const std::vector<v1::Record>& records) {
    const absl::StatusOr<std::vector<BatchOutcome>> outcomes = TrySend(first_seq, records);
    EXPECT_TRUE(outcomes.ok()) << outcomes.status();
    return outcomes.ok() ? outcomes->front() : BatchOutcome{.status = outcomes.status(), .refused = {}};
  }
  std::string Rows() { return dataset_->Query("SELECT count(*) || ' ' || max(seq) FROM measurements"); }
  void OnServer(const char* sql) {
    PgConnection connection(dataset_->db());
    ASSERT_TRUE(connection.Connect().ok());
    const absl::Status status = connection.Execute(sql).status();
    ASSERT_TRUE(status.ok()) << status;
  }

  const std::unique_ptr<TestDataset> dataset_ = NewPostgresqlDataset();
  proxy::CommitProxy proxy_{dataset_->db()};
  const std::string producer_id_ = std::string(16, 'p');
  const std::unique_ptr<StoreWriter> writer_;
};

TEST_F(PgWriterTest, ACommitThatDidNotReachTheServerIsDoneAgain) {
  proxy_.CutNext(proxy::CommitProxy::Cut::kBefore);
  const BatchOutcome outcome = Send(3, {Row('x', 1, 0.5), Row('x', 2, 0.5)});
  EXPECT_EQ(proxy_.cuts(), 1);
  EXPECT_EQ(outcome.committed_seq, 4u);
  EXPECT_EQ(Rows(), "2 2");
}

TEST_F(PgWriterTest, ACommitOfWhichNobodyHeardIsFoundOut) {
  proxy_.CutNext(proxy::CommitProxy::Cut::kAfter);
  const BatchOutcome outcome = Send(3, {Row('x', 1, 0.5), Row('x', 1, 0.75)});
  EXPECT_EQ(proxy_.cuts(), 1);
  EXPECT_EQ(outcome.committed_seq, 4u);
  EXPECT_EQ(outcome.skipped, 0u);  // the batch was not stored a second time
  EXPECT_EQ(outcome.refused.size(), 1u);
  EXPECT_EQ(Rows(), "1 1");
  EXPECT_THAT(Send(5, {Row('x', 2, 0.5)}).refused, IsEmpty());
}

TEST_F(PgWriterTest, AnOpeningOfWhichNobodyHeardIsDoneAgain) {
  proxy_.CutNext(proxy::CommitProxy::Cut::kAfter);
  EXPECT_EQ(*writer_->OpenProducer(producer_id_, 2, "test"), 2u);
  EXPECT_EQ(proxy_.cuts(), 1);
  EXPECT_TRUE(absl::IsFailedPrecondition(Send(3, {Row('x', 1, 0.5)}).status));  // epoch 1 is fenced
}

TEST_F(PgWriterTest, AConnectionThatWasLostIsMadeAnew) {
  OnServer(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND "
      "pid <> pg_backend_pid()");
  EXPECT_EQ(Send(3, {Row('x', 1, 0.5)}).committed_seq, 3u);
  EXPECT_EQ(Rows(), "1 1");
}

TEST_F(PgWriterTest, WhatFailsForGoodIsSaidAndLeavesNothing) {
  OnServer("ALTER TABLE measurements ADD CONSTRAINT no_second CHECK (seq <> 2)");
  EXPECT_EQ(TrySend(3, {Row('x', 1, 0.5), Row('x', 2, 0.5)}).status().code(), absl::StatusCode::kInternal);
  OnServer("ALTER TABLE measurements DROP CONSTRAINT no_second");
  EXPECT_EQ(dataset_->Query("SELECT count(*) FROM measurements"), "0");
  EXPECT_EQ(Send(3, {Row('x', 1, 0.5), Row('x', 2, 0.5)}).committed_seq, 4u);
  EXPECT_EQ(Rows(), "2 2");
}

TEST_F(PgWriterTest, AReaderGoesOnAfterItsConnectionWasLost) {
  const std::unique_ptr<StoreReader> reader = *dataset_->OpenReader();
  EXPECT_EQ(*reader->CountProducers(), 1u);
  OnServer(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND "
      "pid <> pg_backend_pid()");
  EXPECT_EQ(reader->GetRun(RunId('a'))->attempts(), 1u);
}

// Simulates a standby that took over without the latest commits.
TEST_F(PgWriterTest, WhatAnotherServerMayNotHaveIsNotTakenForStored) {
  Send(3, {Row('x', 1, 0.5)});
  OnServer("DELETE FROM configs");
  OnServer(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() "
      "AND pid <> pg_backend_pid()");
  ASSERT_TRUE(writer_->Idle().ok());
  Send(4, {Row('x', 2, 0.5)});
  EXPECT_EQ(dataset_->Query("SELECT count(*) FROM measurements JOIN configs USING (config) WHERE seq = 2"), "1");
}

TEST_F(PgWriterTest, AStatementThatFailedBetweenPreparationAndDescriptionIsPreparedAgain) {
  uint64_t seq = 0;
  do {
    const std::unique_ptr<StoreWriter> writer = *OpenPostgresqlWriter(dataset_->db(), {.patience = absl::Seconds(20)});
    const std::vector<v1::Record> records = {RunRecord('a'), AttemptRecord('x', 'a'), ConfigRecord(7, "Config(w=4)"),
                                             Row('x', ++seq, 0.5), DetailRecord('x', seq)};
    ProducerBatch batch = {.producer_id = producer_id_, .epoch = 1, .first_seq = 3 + (seq - 1) * records.size()};
    for (const v1::Record& record : records) batch.records.push_back({&record});
    until_failure = static_cast<int>(seq);
    const absl::StatusOr<std::vector<BatchOutcome>> outcomes = writer->CommitBatches({batch});
    ASSERT_TRUE(outcomes.ok()) << "description " << seq << ": " << outcomes.status();
    ASSERT_TRUE(outcomes->front().status.ok()) << outcomes->front().status;
  } while (until_failure == 0);
  until_failure = 0;
  EXPECT_GT(seq, 5u);
  EXPECT_EQ(Rows(), absl::StrCat(seq, " ", seq));
}

}  // namespace
}  // namespace telemetry::storage::postgresql
