// Tests that bulk storage and bulk look-ups treat each record in the same way as storing records one by one.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/barrier.h"
#include "proto/record/ids.h"
#include "server/storage/postgresql/connection.h"
#include "server/storage/postgresql/postgresql_store.h"
#include "tests/environment.h"
#include "tests/server/storage/dataset_story.h"
#include "tests/server/storage/test_dataset.h"

namespace telemetry::storage::postgresql {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A producer that sends to one writer and keeps track of its sequence number.
class Sender {
 public:
  Sender(StoreWriter& writer, char name) : writer_(writer), producer_(16, name) {
    EXPECT_TRUE(writer_.OpenProducer(producer_, 1, "test").ok());
  }

  BatchOutcome Send(const std::vector<v1::Record>& records) {
    ProducerBatch batch = {.producer_id = producer_, .epoch = 1, .first_seq = next_seq_};
    AddRecords(records, &batch);
    const absl::StatusOr<std::vector<BatchOutcome>> outcomes = writer_.CommitBatches({batch});
    EXPECT_TRUE(outcomes.ok()) << outcomes.status();
    if (!outcomes.ok()) return {.status = outcomes.status()};
    next_seq_ = outcomes->front().committed_seq + 1;
    return outcomes->front();
  }
  uint64_t next_seq() const { return next_seq_; }

 private:
  StoreWriter& writer_;
  const std::string producer_;
  uint64_t next_seq_ = 1;
};

std::vector<uint64_t> RefusedSeqs(const BatchOutcome& outcome) {
  std::vector<uint64_t> seqs;
  for (const RefusedRecord& refused : outcome.refused) seqs.push_back(refused.seq);
  return seqs;
}

class BulkTest : public ::testing::Test {
 protected:
  const std::unique_ptr<TestDataset> dataset_ = NewPostgresqlDataset();
  std::unique_ptr<StoreWriter> writer_ = *dataset_->OpenWriter();
};

TEST_F(BulkTest, OfRowsUnderOneNumberTheFirstOfATransactionStays) {
  Sender sender(*writer_, 'p');
  const BatchOutcome outcome = sender.Send({AttemptRecord('x', 'a'), Row('x', 1, 0.5), Row('x', 2, 0.5),
                                            Row('x', 1, 0.75), Row('x', 2, 0.5), Row('x', 3, 0.5)});
  EXPECT_THAT(RefusedSeqs(outcome), ElementsAre(4u));
  EXPECT_EQ(outcome.refused[0].reason, v1::Reject::REASON_CONFLICT);
  EXPECT_EQ(outcome.committed_seq, 6u);
  EXPECT_EQ(dataset_->Query("SELECT string_agg(perf_ms::text, ' ' ORDER BY seq) FROM measurements"), "0.5 0.5 0.5");
  EXPECT_EQ(dataset_->Query("SELECT count(*) FROM rejects"), "1");
}

TEST_F(BulkTest, RowsThatAreStoredAlreadyAreComparedAndTheOthersStored) {
  Sender(*writer_, 'p').Send({AttemptRecord('x', 'a'), Row('x', 1, 0.5), Row('x', 2, 0.5)});
  Sender again(*writer_, 'q');
  const std::vector<v1::Record> log = {AttemptRecord('x', 'a'), Row('x', 3, 0.5), Row('x', 1, 0.5), Row('x', 2, 0.75),
                                       Row('x', 4, 0.5)};
  EXPECT_THAT(RefusedSeqs(again.Send(log)), ElementsAre(4u));
  EXPECT_EQ(dataset_->Query("SELECT string_agg(perf_ms::text, ' ' ORDER BY seq) FROM measurements"), "0.5 0.5 0.5 0.5");
  // Checks that the failed COPY leaves no state behind: later rows are stored as usual.
  EXPECT_THAT(again.Send({Row('x', 5, 0.5)}).refused, IsEmpty());
  EXPECT_EQ(dataset_->Query("SELECT count(*) FROM measurements"), "5");
}

// Counts the statements that store rows of measurements.
void CountStatements(const TestDataset& dataset) {
  PgConnection connection(dataset.db());
  ASSERT_TRUE(connection.Connect().ok());
  const absl::Status status = connection
                                  .Execute(
                                      "CREATE SEQUENCE statements; "
                                      "CREATE FUNCTION count_statement() RETURNS trigger LANGUAGE plpgsql AS "
                                      "$$ BEGIN PERFORM nextval('statements'); RETURN NULL; END $$; "
                                      "CREATE TRIGGER count_statements AFTER INSERT ON measurements "
                                      "FOR EACH STATEMENT EXECUTE FUNCTION count_statement()")
                                  .status();
  ASSERT_TRUE(status.ok()) << status;
}

TEST_F(BulkTest, ARepeatedRowLeavesOtherProducersRowsTogether) {
  constexpr int kRows = 500;
  Sender first(*writer_, 'p');
  std::vector<v1::Record> stored = {AttemptRecord('x', 'a')};
  for (int i = 1; i <= kRows; ++i) stored.push_back(Row('x', static_cast<uint64_t>(i), 0.5));
  first.Send(stored);
  CountStatements(*dataset_);

  // A producer whose log restarts sends all stored rows again and some more. The rows of another producer are new.
  stored.push_back(Row('x', kRows + 1, 0.5));
  stored.push_back(Row('x', kRows + 1, 0.5));
  stored.push_back(Row('x', 7, 0.75));
  std::vector<v1::Record> others = {AttemptRecord('y', 'a')};
  for (int i = 1; i <= kRows; ++i) others.push_back(Row('y', static_cast<uint64_t>(i), 0.5));
  std::vector<ProducerBatch> batches;
  for (const auto& [name, log] : {std::pair('q', &stored), std::pair('r', &others)}) {
    ASSERT_TRUE(writer_->OpenProducer(std::string(16, name), 1, "test").ok());
    batches.push_back({.producer_id = std::string(16, name), .epoch = 1, .first_seq = 1});
    for (const v1::Record& record : *log) batches.back().records.push_back({&record});
  }
  const absl::StatusOr<std::vector<BatchOutcome>> outcomes = writer_->CommitBatches(batches);
  ASSERT_TRUE(outcomes.ok()) << outcomes.status();
  EXPECT_THAT(RefusedSeqs((*outcomes)[0]), ElementsAre(stored.size()));
  EXPECT_THAT((*outcomes)[1].refused, IsEmpty());
  EXPECT_EQ(dataset_->Query("SELECT count(*) FROM measurements"), absl::StrCat(2 * kRows + 1));
  EXPECT_LT(std::stoi(dataset_->Query("SELECT last_value FROM statements")), 10);
}

TEST_F(BulkTest, ARefusedRecordLeavesNoConfig) {
  Sender sender(*writer_, 'p');
  EXPECT_THAT(RefusedSeqs(sender.Send({Row('?', 1, 0.5, /*config_id=*/8), AttemptRecord('x', 'a')})), ElementsAre(1u));
  EXPECT_EQ(dataset_->Query("SELECT count(*) FROM configs"), "0");
  // A refused text adds none of its arguments.
  sender.Send({ConfigRecord(7, "Config(w=4)")});
  EXPECT_EQ(sender.Send({ConfigRecord(7, "Config(w=8)")}).refused.size(), 1u);
  EXPECT_EQ(dataset_->Query("SELECT string_agg(text, ' ') FROM config_arguments"), "w=4");
}

// A generator of random records about a few objects, so that records conflict in one transaction, with earlier
// transactions, and with other producers.
class RandomRecords {
 public:
  explicit RandomRecords(unsigned seed) : random_(seed) {}

  std::vector<v1::Record> Make(int count) {
    std::vector<v1::Record> records;
    for (int i = 0; i < count; ++i) records.push_back(One());
    return records;
  }

 private:
  uint64_t Below(uint64_t end) { return std::uniform_int_distribution<uint64_t>(0, end - 1)(random_); }
  char DrawLetter(const std::string& letters) { return letters[Below(letters.size())]; }

  v1::Record One() {
    const char run = DrawLetter("ab");
    const char attempt = DrawLetter("uvwxyz");
    const uint64_t config = 1 + Below(12);
    switch (Below(12)) {
      case 0:
        return RunRecord(run);
      case 1: {
        v1::Record record = AttemptRecord(attempt, attempt < 'x' ? 'a' : 'b');
        if (attempt == 'u') record.mutable_attempt()->set_run_id(record::UnknownRunId(AttemptId(attempt)));
        record.mutable_attempt()->set_provisional(attempt != 'z' && Below(2) == 0);
        if (attempt != 'u' && Below(8) == 0) {
          record.mutable_attempt()->add_supersedes(AttemptId(DrawLetter("uvwxy")));
        }
        return record;
      }
      case 2:
      case 3: {
        // Usually the same text, or the same arguments in another order; sometimes the text of another config.
        const uint64_t warps = Below(16) == 0 ? config + 1 : config;
        return ConfigRecord(config, Below(2) == 0 ? absl::StrCat("Config(warps=", warps, ", stages=", warps % 3, ")")
                                                  : absl::StrCat("Config(stages=", warps % 3, ", warps=", warps, ")"));
      }
      case 4: {
        v1::Record record = RunConfigRecord(run, config);
        if (Below(2) == 0) record.mutable_run_config()->set_decorator(Below(8) == 0 ? "@other" : "@kernel");
        if (Below(2) == 0) {
          record.mutable_run_config()->set_record_keys_json(Below(2) == 0 ? R"(["a", "b"])" : R"(["b", "a"])");
        }
        return record;
      }
      case 5: {
        v1::Record record = DetailRecord(attempt, 1 + Below(20));
        record.mutable_measurement_detail()->set_registers(static_cast<int>(64 + Below(16) / 15));
        return record;
      }
      case 6: {
        v1::Record record;
        record.mutable_source_hash()->set_attempt_id(AttemptId(attempt));
        record.mutable_source_hash()->set_seq(1 + Below(20));
        record.mutable_source_hash()->set_source_hash(Below(16) == 0 ? "00fe" : "00ff");
        return record;
      }
      case 7:
        return GraphRecord(run);
      case 8:
        return EventRecord(attempt, 1 + Below(20), Below(16) == 0 ? "{}" : "{\"event\": \"x\"}");
      default: {
        const uint64_t seq = 1 + Below(200);
        v1::Record record = Row(attempt, seq, Below(16) == 0 ? 0.75 : 0.5, 1 + seq % 12);
        record.mutable_measurement()->set_status(seq % 2 == 0 ? "ok" : "error");
        return record;
      }
    }
  }

  std::mt19937 random_;
};

std::string ToText(const BatchOutcome& outcome) {
  std::string text = absl::StrCat(outcome.status.ToString(), " ", outcome.committed_seq, " skipped ", outcome.skipped);
  for (const RefusedRecord& refused : outcome.refused) {
    absl::StrAppend(&text, "\n", refused.seq, ": ", refused.reason, " ", refused.message);
  }
  return text;
}

TEST_F(BulkTest, WhateverComesTheOutcomesAreThoseOfAFile) {
  const unsigned seed = TestSeed();
  const std::unique_ptr<TestDataset> file = NewSqliteDataset({});
  const std::unique_ptr<StoreWriter> file_writer = *file->OpenWriter();
  const std::vector<std::string> producers = {std::string(16, 'p'), std::string(16, 'q'), std::string(16, 'r')};
  for (StoreWriter* const writer : {writer_.get(), file_writer.get()}) {
    for (const std::string& producer : producers) ASSERT_TRUE(writer->OpenProducer(producer, 1, "test").ok());
  }
  std::vector<uint64_t> next_seqs(producers.size(), 1);
  RandomRecords random(seed);
  for (int transaction = 0; transaction < 60; ++transaction) {
    std::vector<std::vector<v1::Record>> logs;
    std::vector<ProducerBatch> batches;
    logs.reserve(producers.size());
    for (size_t i = 0; i < producers.size(); ++i) {
      const std::vector<v1::Record>& log = logs.emplace_back(random.Make(transaction % 3 == 0 ? 40 : 4));
      ProducerBatch& batch =
          batches.emplace_back(ProducerBatch{.producer_id = producers[i], .epoch = 1, .first_seq = next_seqs[i]});
      AddRecords(log, &batch);
    }
    const auto expected = file_writer->CommitBatches(batches);
    const auto outcomes = writer_->CommitBatches(batches);
    ASSERT_TRUE(expected.ok()) << expected.status();
    ASSERT_TRUE(outcomes.ok()) << outcomes.status();
    for (size_t i = 0; i < producers.size(); ++i) {
      ASSERT_EQ(ToText((*outcomes)[i]), ToText((*expected)[i])) << "transaction " << transaction;
      next_seqs[i] = (*expected)[i].committed_seq + 1;
    }
  }
  EXPECT_EQ(ExportText(**dataset_->OpenReader()), ExportText(**file->OpenReader()));
  for (const char* const table : {"runs", "attempts", "superseded_attempts", "configs", "config_arguments",
                                  "run_configs", "key_lists", "statuses", "measurements", "source_hashes",
                                  "measurement_details", "ir_graphs", "ir_nodes", "ir_edges", "rejects"}) {
    const std::string count = absl::StrCat("SELECT count(*) FROM ", table);
    EXPECT_EQ(dataset_->Query(count), file->Query(count)) << table;
  }
}

TEST_F(BulkTest, TwoWhoSendTheSameConfigsInOppositeOrdersDoNotWaitForEachOther) {
  constexpr int kRounds = 30;
  constexpr int kConfigs = 100;
  std::vector<std::thread> threads;
  // Both threads begin each round at the same time.
  std::vector<absl::Barrier*> rounds;
  for (int i = 0; i < kRounds; ++i) rounds.push_back(new absl::Barrier(2));
  for (const bool backwards : {false, true}) {
    threads.emplace_back([&, backwards] {
      const std::unique_ptr<StoreWriter> writer = *OpenPostgresqlWriter(dataset_->db());
      Sender sender(*writer, backwards ? 'q' : 'p');
      for (int round = 0; round < kRounds; ++round) {
        std::vector<v1::Record> records;
        for (int i = 0; i < kConfigs; ++i) {
          const int config = round * kConfigs + (backwards ? kConfigs - i : i + 1);
          records.push_back(ConfigRecord(static_cast<uint64_t>(config), absl::StrCat("Config(n=", config, ")")));
        }
        if (rounds[static_cast<size_t>(round)]->Block()) delete rounds[static_cast<size_t>(round)];
        EXPECT_THAT(sender.Send(records).refused, IsEmpty());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  writer_.reset();
  EXPECT_EQ(dataset_->Query("SELECT count(*) FROM config_texts WHERE text IS NOT NULL"),
            absl::StrCat(kRounds * kConfigs));
  // A connection has reported its counters once it has ended.
  while (dataset_->Query("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND "
                         "backend_type = 'client backend'") != "1") {
  }
  EXPECT_EQ(dataset_->Query("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"), "0");
}

}  // namespace
}  // namespace telemetry::storage::postgresql
