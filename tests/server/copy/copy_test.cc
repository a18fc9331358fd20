// Tests that a copied dataset equals its source, also after interruptions.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/copy/copy_dataset.h"
#include "server/storage/any/any_store.h"
#include "server/storage/postgresql/pg_database.h"
#include "server/storage/sqlite/sqlite_database.h"
#include "tests/server/storage/dataset_story.h"
#include "tests/server/storage/model_files.h"
#include "tests/server/storage/test_dataset.h"

namespace telemetry::copy {
namespace {

using storage::AttemptRecord;
using storage::ConfigRecord;
using storage::DetailRecord;
using storage::EventRecord;
using storage::GraphRecord;
using storage::ProducerBatch;
using storage::Row;
using storage::RunRecord;
using storage::TestDataset;
using ::testing::HasSubstr;
using ::testing::Not;

enum class Kind { kSqlite, kPostgresql };

std::unique_ptr<TestDataset> NewPlace(Kind kind) {
  return kind == Kind::kSqlite ? storage::NewSqliteDataset({}) : storage::NewPostgresqlDataset();
}

const std::string kProducer(16, 'p');

// Puts entries of two senders into the cache, with bytes and texts that are difficult for a format.
void PutCache(storage::StoreWriter& writer) {
  storage::CachePut full = {.sender = "token ci", .entry = {}};
  full.entry.set_namespace_("test");
  full.entry.set_key("tab\t\\");
  full.entry.set_value(std::string("\0\n\xff\\N", 5));
  full.entry.set_attempt_id(std::string(16, '\0'));
  full.entry.set_hardware("ä");
  full.entry.set_versions_json("{}");
  storage::CachePut sparse = full;
  sparse.sender = "192.0.2.7";
  sparse.entry = {};
  sparse.entry.set_namespace_("test");
  sparse.entry.set_key("k");
  const auto outcomes = writer.PutCacheEntries({full, sparse}, {});
  ASSERT_TRUE(outcomes.ok() && outcomes->back().status.ok()) << outcomes.status();
}

// Stores a model of two parts, and a part of another one.
void StoreModels(storage::StoreWriter& writer) {
  const std::string model = storage::ModelFile(std::string(1'500'000, '\0'));
  const std::string incomplete = storage::ModelFile(std::string(1'500'000, '\xff'));
  for (const v1::PutModelRequest& part :
       {storage::ModelPart(model, 0), storage::ModelPart(model, 1), storage::ModelPart(incomplete, 0)}) {
    const auto outcome = writer.ChangeModels(storage::ModelPut{.sender = "token ci", .request = part}, {});
    ASSERT_TRUE(outcome.ok() && outcome->status.ok()) << outcome.status();
  }
}

// Sends the records as the producer's next ones, stores models, and puts entries into the cache. The records before
// them are skipped.
void Send(TestDataset& dataset, uint64_t first_seq, const std::vector<v1::Record>& records) {
  absl::StatusOr<std::unique_ptr<storage::StoreWriter>> writer = dataset.OpenWriter();
  ASSERT_TRUE(writer.ok()) << writer.status();
  const auto opened =
      (*writer)->OpenProducers({{.producer_id = kProducer, .epoch = 3, .client = "test", .sender = "ci"}});
  ASSERT_TRUE(opened.ok() && opened->front().status.ok()) << opened.status();
  ProducerBatch batch{.producer_id = kProducer, .epoch = 3, .first_seq = first_seq};
  storage::AddRecords(records, &batch);
  const auto outcomes = (*writer)->CommitBatches({batch});
  ASSERT_TRUE(outcomes.ok() && outcomes->front().status.ok()) << outcomes.status();
  PutCache(**writer);
  StoreModels(**writer);
}

v1::Record Reject(const std::string& raw) {
  v1::Record record;
  record.mutable_reject()->set_reason(v1::Reject::REASON_UNREADABLE);
  record.mutable_reject()->set_raw(raw);
  return record;
}

v1::Record Superseding(char attempt, char run, char superseded) {
  v1::Record record = AttemptRecord(attempt, run);
  record.mutable_attempt()->add_supersedes(storage::AttemptId(superseded));
  return record;
}

v1::Record SourceHashRecord(char attempt, uint64_t seq) {
  v1::Record record;
  record.mutable_source_hash()->set_attempt_id(storage::AttemptId(attempt));
  record.mutable_source_hash()->set_seq(seq);
  record.mutable_source_hash()->set_source_hash(std::string(64, 'f'));
  return record;
}

v1::Record RunConfigRecord(char run, uint64_t config_id) {
  v1::Record record;
  record.mutable_run_config()->set_run_id(storage::RunId(run));
  record.mutable_run_config()->set_config_id(config_id);
  record.mutable_run_config()->set_sample_id(std::string(32, 's'));
  record.mutable_run_config()->set_record_keys_json(R"(["num_warps"])");
  return record;
}

v1::Record FullRun(char run) {
  v1::Record record = RunRecord(run);
  record.mutable_run()->set_settings_json(R"({"text": "tab \t, \\ and \u00e4, ä, 深"})");
  return record;
}

// Returns records for each table, with texts that are difficult for a format.
std::vector<v1::Record> Everything() {
  std::vector<v1::Record> records;
  for (const char run : {'1', '2', '3'}) {
    records.push_back(FullRun(run));
    records.push_back(GraphRecord(run));
    const char attempt = static_cast<char>('a' + run - '1');
    records.push_back(run == '3' ? Superseding(attempt, run, 'z') : AttemptRecord(attempt, run));
    for (uint64_t seq = 1; seq <= 10; ++seq) {
      records.push_back(ConfigRecord(seq, absl::StrCat("Config(text='\\t\\n\t\n\r\\N', num_warps=", seq, ")")));
      records.push_back(Row(attempt, seq, seq == 3 ? 1e-300 : seq == 4 ? -0.0 : 0.1 * static_cast<double>(seq), seq));
      records.push_back(RunConfigRecord(run, seq));
      if (seq % 3 == 2) {
        // One that fits into its row, and others that do not.
        const std::string message = std::string(seq * seq * seq * seq * seq, 'f') + "\t\\\n\r\\N";
        records[records.size() - 2].mutable_measurement()->mutable_failure()->set_message(message);
      }
      if (seq % 3 == 0) records.push_back(SourceHashRecord(attempt, seq));
      if (seq % 2 == 0) records.push_back(DetailRecord(attempt, seq));
      if (seq % 3 == 0) records.push_back(EventRecord(attempt, seq));
    }
  }
  records.push_back(Reject(std::string("torn\0line\\\n", 11)));
  records.push_back(Reject(""));
  return records;
}

// Returns all items of an export as text.
std::string Export(TestDataset& dataset) {
  absl::StatusOr<std::unique_ptr<storage::StoreReader>> reader = dataset.OpenReader();
  if (!reader.ok()) return reader.status().ToString();
  v1::ExportRequest request;
  request.set_details(true);
  std::string text;
  absl::Status status = (*reader)->Export(request, [&text](const v1::ExportItem& item) {
    absl::StrAppend(&text, item.DebugString(), "\n");
    return absl::OkStatus();
  });
  return status.ok() ? text : status.ToString();
}

void DamageOneRow(const std::string& db) {
  constexpr char kDamage[] = "UPDATE measurements SET perf_ms = perf_ms + 1 WHERE seq = 4";
  if (storage::any::IsPostgresqlUrl(db)) {
    EXPECT_TRUE((*storage::postgresql::PgDatabase::Open(db))->Execute(kDamage).ok());
  } else {
    EXPECT_TRUE(storage::sqlite::SqliteDatabase::Open(db, {.vfs = {}})->Execute(kDamage).ok());
  }
}

// Runs a copy in a child process that kills itself after the transaction number `death`. Returns false if the copy was
// complete before.
bool DiesIn(CopyOptions options, int death) {
  const pid_t child = fork();
  if (child == 0) {
    int calls = 0;
    options.on_progress = [&](const std::string& what, const std::string& /*table*/, int64_t /*rows*/) {
      if (what == "copied" && ++calls == death) kill(getpid(), SIGKILL);
    };
    const absl::Status status = CopyDataset(options).status();
    if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
    _exit(status.ok() ? 0 : 1);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
  return WIFSIGNALED(status);
}

class CopyTest : public ::testing::TestWithParam<std::tuple<Kind, Kind>> {
 protected:
  void SetUp() override { Send(*from_, 1, Everything()); }

  absl::StatusOr<CopyReport> Copy() { return CopyDataset(Options()); }
  CopyOptions Options() const { return {.from = from_->db(), .to = to_->db(), .rows_per_step = 4}; }
  void ExpectUnfinished() {
    for (const absl::Status& status :
         {storage::any::OpenReader(to_->db()).status(), storage::any::OpenWriter(to_->db()).status(),
          storage::any::Inspect(to_->db()).status()}) {
      EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
      EXPECT_THAT(std::string(status.message()), HasSubstr("copy again"));
    }
  }

  const std::unique_ptr<TestDataset> from_ = NewPlace(std::get<0>(GetParam()));
  const std::unique_ptr<TestDataset> to_ = NewPlace(std::get<1>(GetParam()));
};

INSTANTIATE_TEST_SUITE_P(Between, CopyTest,
                         ::testing::Combine(::testing::Values(Kind::kSqlite, Kind::kPostgresql),
                                            ::testing::Values(Kind::kSqlite, Kind::kPostgresql)),
                         [](const auto& info) {
                           const auto name = [](Kind kind) { return kind == Kind::kSqlite ? "Sqlite" : "Postgresql"; };
                           return absl::StrCat(name(std::get<0>(info.param)), "To", name(std::get<1>(info.param)));
                         });

TEST_P(CopyTest, EachTableHasRowsAndTheExportIsTheSame) {
  const absl::StatusOr<CopyReport> report = Copy();
  ASSERT_TRUE(report.ok()) << report.status();
  for (const auto& [table, hash] : report->tables) {
    // No collector has served the dataset.
    EXPECT_EQ(hash.rows > 0, table != "served_time") << table;
  }
  EXPECT_EQ(Export(*to_), Export(*from_));
  EXPECT_THAT(Export(*to_), HasSubstr("samples_ms"));
}

TEST_P(CopyTest, AProducerGoesOnWhereItWasAcknowledged) {
  ASSERT_TRUE(Copy().ok());
  // Repeated records are skipped, and new ones get keys of their own.
  std::vector<v1::Record> more = Everything();
  more.push_back(FullRun('4'));
  more.push_back(GraphRecord('4'));
  more.push_back(AttemptRecord('d', '4'));
  more.push_back(ConfigRecord(99, "Config(num_warps=99)"));
  more.push_back(Row('d', 1, 1.5, 99));
  more.push_back(Reject("new"));
  for (TestDataset* const dataset : {from_.get(), to_.get()}) Send(*dataset, 1, more);
  EXPECT_EQ(to_->Query("SELECT count(*) FROM measurements"), "31");
  EXPECT_EQ(to_->Query("SELECT count(*) FROM rejects"), "3");
  EXPECT_EQ(to_->Query("SELECT count(*) FROM attempts WHERE attempt > 3"), "1");
}

TEST_P(CopyTest, KilledBehindAnyTransactionItGoesOn) {
  const auto seed = std::random_device()();
  SCOPED_TRACE(absl::StrCat("seed ", seed));
  std::minstd_rand random(seed);
  int deaths = 0;
  while (DiesIn(Options(), 1 + static_cast<int>(random() % 4))) {
    if (++deaths < 5) ExpectUnfinished();
    ASSERT_LT(deaths, 200);
  }
  EXPECT_GT(deaths, 10);
  EXPECT_EQ(Export(*to_), Export(*from_));
}

TEST_P(CopyTest, WhatHoldsADatasetIsLeftAlone) {
  Send(*to_, 1, {RunRecord('7')});
  const std::string before = Export(*to_);
  const absl::Status status = Copy().status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("holds a dataset already"));
  EXPECT_EQ(Export(*to_), before);
}

TEST_P(CopyTest, AnEmptyDatasetTakesTheOthersName) {
  ASSERT_TRUE(to_->OpenWriter().ok());
  ASSERT_TRUE(Copy().ok());
  EXPECT_EQ((*to_->OpenWriter())->dataset_id(), (*from_->OpenWriter())->dataset_id());
}

TEST_P(CopyTest, AnUnfinishedCopyOfAnotherDatasetIsLeftAlone) {
  ASSERT_TRUE(DiesIn(Options(), 5));
  const std::unique_ptr<TestDataset> other = NewPlace(Kind::kSqlite);
  Send(*other, 1, {RunRecord('7')});
  const absl::Status status = CopyDataset({.from = other->db(), .to = to_->db()}).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("another dataset"));
  EXPECT_TRUE(Copy().ok());
}

TEST_P(CopyTest, ItDoesNotGoOnWithADatasetThatHasChanged) {
  ASSERT_TRUE(DiesIn(Options(), 5));
  std::vector<v1::Record> more = Everything();
  more.push_back(Reject("new"));
  Send(*from_, 1, more);
  const absl::Status status = Copy().status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("before it changed"));
  ExpectUnfinished();
}

TEST_P(CopyTest, ACopyThatIsNotTheSameStaysUnfinished) {
  CopyOptions options = Options();
  options.on_progress = [&](const std::string& what, const std::string& table, int64_t /*rows*/) {
    if (what != "copied" || table != "producers") return;
    DamageOneRow(to_->db());
  };
  const absl::Status status = CopyDataset(options).status();
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("table measurements"));
  ExpectUnfinished();
}

TEST_P(CopyTest, APasswordIsNotSaid) {
  const std::string secret = "postgresql://me:sesame@127.0.0.1:1/dataset";
  EXPECT_THAT(CopyDataset({.from = from_->db(), .to = secret}).status().ToString(), Not(HasSubstr("sesame")));
  EXPECT_THAT(CopyDataset({.from = secret, .to = to_->db()}).status().ToString(), Not(HasSubstr("sesame")));
}

using CopyFromServer = CopyTest;
INSTANTIATE_TEST_SUITE_P(Of, CopyFromServer, ::testing::Values(std::tuple(Kind::kPostgresql, Kind::kSqlite)));

TEST_P(CopyFromServer, WhatIsServedMeanwhileIsRefusedAtTheEnd) {
  CopyOptions options = Options();
  bool sent = false;
  options.on_progress = [&](const char* /*what*/, const std::string& table, int64_t /*rows*/) {
    if (sent || table != "measurements") return;
    sent = true;
    std::vector<v1::Record> more = Everything();
    more.push_back(Reject("new"));
    Send(*from_, 1, more);
  };
  const absl::Status status = CopyDataset(options).status();
  EXPECT_TRUE(sent);
  EXPECT_TRUE(absl::IsAborted(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("has changed while it was copied"));
  ExpectUnfinished();
}

using CopyFromFile = CopyTest;
INSTANTIATE_TEST_SUITE_P(Of, CopyFromFile, ::testing::Values(std::tuple(Kind::kSqlite, Kind::kPostgresql)));

TEST_P(CopyFromFile, WhatACollectorServesIsRefused) {
  const auto writer = from_->OpenWriter();
  ASSERT_TRUE(writer.ok());
  EXPECT_TRUE(absl::IsAlreadyExists(Copy().status()));
}

using CopyOnServers = CopyTest;
INSTANTIATE_TEST_SUITE_P(Of, CopyOnServers, ::testing::Values(std::tuple(Kind::kPostgresql, Kind::kPostgresql)));

TEST_P(CopyOnServers, ASecondCopyToTheSamePlaceEndsOneOfThem) {
  CopyOptions options = Options();
  bool began = false;
  options.on_progress = [&](const char* /*what*/, const std::string& table, int64_t /*rows*/) {
    if (began || table != "measurements") return;
    began = true;
    EXPECT_TRUE(DiesIn(Options(), 2));
  };
  const absl::Status status = CopyDataset(options).status();
  EXPECT_TRUE(absl::IsAborted(status)) << status;
}

}  // namespace
}  // namespace telemetry::copy
