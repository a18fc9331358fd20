// Tests that a reader's calls, and the pages of an export, read in a transaction: their statements see the same state
// of the dataset.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/storage/readers/deletion.h"
#include "server/storage/readers/sql_reader.h"
#include "server/storage/sqlite/sqlite_database.h"
#include "tests/server/storage/dataset_story.h"

namespace telemetry::storage::readers {
namespace {

using ::testing::AnyOf;
using ::testing::Each;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class ReadTransactionsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    story_.Send({RunRecord('a'), AttemptRecord('p', 'a'), ConfigRecord(7, "Config()"), Row('p', 0, 1.5),
                 DetailRecord('p', 0), GraphRecord('a')});
    absl::StatusOr<sqlite::SqliteDatabase> database =
        sqlite::SqliteDatabase::Open(story_.path(), {.read_only = true, .vfs = ""});
    ASSERT_TRUE(database.ok()) << database.status();
    handle_ = database->handle();
    ASSERT_EQ(sqlite3_trace_v2(handle_, SQLITE_TRACE_STMT, &ReadTransactionsTest::OnStatement, this), SQLITE_OK);
    reader_ = std::make_unique<SqlReader>(std::make_unique<sqlite::SqliteDatabase>(*std::move(database)));
  }

  // SQLite calls this when a statement begins.
  static int OnStatement(unsigned /*event*/, void* self, void* /*statement*/, void* sql) {
    auto& test = *static_cast<ReadTransactionsTest*>(self);
    const std::string_view text = static_cast<const char*>(sql);
    if (text.starts_with("BEGIN")) return 0;
    ++test.statements_;
    if (text.starts_with("SELECT text FROM config_arguments")) ++test.argument_reads_;
    if (sqlite3_get_autocommit(test.handle_) != 0) test.outside_.emplace_back(text);
    return 0;
  }

  // Expects that the last call ran statements, all of them inside a transaction.
  void ExpectOneTransaction(const absl::Status& status) {
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_GT(statements_, 0);
    EXPECT_THAT(outside_, IsEmpty());
    statements_ = 0;
    outside_.clear();
  }

  DatasetStory story_;
  sqlite3* handle_ = nullptr;
  int statements_ = 0;
  int argument_reads_ = 0;
  std::vector<std::string> outside_;
  std::unique_ptr<SqlReader> reader_;
};

TEST_F(ReadTransactionsTest, AQuestion) {
  v1::ListAttemptsRequest attempts;
  attempts.set_run_id(RunId('a'));
  v1::ListMeasurementsRequest measurements;
  measurements.set_attempt_id(AttemptId('p'));
  ExpectOneTransaction(reader_->CountProducers().status());
  ExpectOneTransaction(reader_->ListRuns({}).status());
  ExpectOneTransaction(reader_->GetRun(RunId('a')).status());
  ExpectOneTransaction(reader_->ListAttempts(attempts).status());
  ExpectOneTransaction(reader_->GetAttempt(AttemptId('p')).status());
  ExpectOneTransaction(reader_->ListMeasurements(measurements).status());
}

TEST_F(ReadTransactionsTest, TheCache) {
  CachePut put = {.sender = "token a", .entry = {}};
  put.entry.set_namespace_("test");
  put.entry.set_key("k");
  ASSERT_TRUE(story_.writer().PutCacheEntries({put}, {}).ok());
  v1::GetCacheRequest get;
  get.set_namespace_("test");
  get.set_key("k");
  v1::ListCacheRequest list;
  list.set_values(true);
  ExpectOneTransaction(reader_->CacheBytes().status());
  ExpectOneTransaction(reader_->GetCacheEntry(get, 0).status());
  ExpectOneTransaction(reader_->ListCacheEntries(list, 0).status());
}

TEST_F(ReadTransactionsTest, ThePagesOfAnExport) {
  v1::ExportRequest request;
  request.set_details(true);
  const absl::Status status = reader_->Export(request, [](const v1::ExportItem& /*item*/) { return absl::OkStatus(); });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_GT(statements_, static_cast<int>(outside_.size()));
  // Between two pages the export runs single statements, which need no transaction: the number of a run's rows, its
  // configs, the kinds of rows of an attempt, the existence of an attempt.
  EXPECT_THAT(outside_,
              Each(AnyOf(StartsWith("SELECT (SELECT count(*) FROM attempts"), StartsWith("SELECT sample_id, "),
                         StartsWith("SELECT EXISTS "), StartsWith("SELECT a.attempt, "))));
}

// On PostgreSQL each statement costs a round trip.
TEST_F(ReadTransactionsTest, AnExportReadsARunWithFewStatements) {
  constexpr uint64_t kConfigs = 500;
  std::vector<v1::Record> log = {RunRecord('b'), AttemptRecord('q', 'b')};
  for (uint64_t config = 1; config <= kConfigs; ++config) {
    log.push_back(ConfigRecord(config, absl::StrCat("Config(warps=", config, ")")));
    log.push_back(RunConfigRecord('b', config));
    log.push_back(Row('q', config, 1.5, config));
  }
  ASSERT_TRUE(story_.Send(log).status.ok());
  v1::ExportRequest request;
  request.mutable_filter()->set_run_id(RunId('b'));
  const absl::Status status = reader_->Export(request, [](const v1::ExportItem& /*item*/) { return absl::OkStatus(); });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_LT(statements_ - argument_reads_, 30);
}

TEST_F(ReadTransactionsTest, AnExportReadsTheTextOfAnArgumentOnce) {
  for (const char run : {'b', 'c'}) {
    const char attempt = run == 'b' ? 'q' : 'r';
    const uint64_t config = run == 'b' ? 8 : 9;
    story_.Send({RunRecord(run), AttemptRecord(attempt, run),
                 ConfigRecord(config, run == 'b' ? "Config(warps=4, stages=1)" : "Config(warps=4, stages=2)"),
                 Row(attempt, 1, 1.5, config)});
  }
  const absl::Status status = reader_->Export({}, [](const v1::ExportItem& /*item*/) { return absl::OkStatus(); });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(argument_reads_, 3);
}

TEST_F(ReadTransactionsTest, TheStepsOfADeletion) {
  v1::DeleteRequest request;
  request.add_run_ids(RunId('a'));
  absl::StatusOr<Deletion> deletion = reader_->BeginDeletion(request);
  ExpectOneTransaction(deletion.status());
  ExpectOneTransaction(reader_->Next(*deletion).status());
}

}  // namespace
}  // namespace telemetry::storage::readers
