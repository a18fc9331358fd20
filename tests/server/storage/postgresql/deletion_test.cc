// Tests the deletion of attempts while other writers store rows of them.

#include "server/storage/readers/deletion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/storage/postgresql/postgresql_store.h"
#include "tests/server/storage/dataset_story.h"
#include "tests/server/storage/test_dataset.h"

namespace telemetry::storage::postgresql {
namespace {

class DeletionBesideWritersTest : public ::testing::Test {
 protected:
  std::unique_ptr<StoreWriter> OpenWriter() {
    return *OpenPostgresqlWriter(dataset_->db(), {.patience = absl::Seconds(60)});
  }

  // Deletes the run. Returns the number of its attempts that were deleted.
  int DeleteRun(StoreReader& reader, StoreWriter& writer, char run) {
    v1::DeleteRequest request;
    request.add_run_ids(RunId(run));
    absl::StatusOr<readers::Deletion> deletion = reader.BeginDeletion(request);
    if (absl::IsNotFound(deletion.status())) return 0;
    EXPECT_TRUE(deletion.ok()) << deletion.status();
    int attempts = 0;
    while (!deletion->done()) {
      const absl::StatusOr<Removal> removal = reader.Next(*deletion);
      EXPECT_TRUE(removal.ok()) << removal.status();
      const absl::StatusOr<v1::DeleteStep> step = writer.RemoveAttempts(*removal);
      EXPECT_TRUE(step.ok()) << step.status();
      if (!step.ok()) break;
      attempts += step->attempts_size();
    }
    return attempts;
  }

  std::string CountRows(const std::string& rows) { return dataset_->Query("SELECT count(*) FROM " + rows); }

  const std::unique_ptr<TestDataset> dataset_ = NewPostgresqlDataset();
};

// A producer of one attempt in each of two runs, which announces the attempts again with some of its batches.
class Producer {
 public:
  Producer(std::unique_ptr<StoreWriter> writer, char letter) : writer_(std::move(writer)), letter_(letter) {
    EXPECT_TRUE(writer_->OpenProducer(id_, 1, "test").ok());
  }

  // Sends a batch of records for both runs; the first run's attempt may have been deleted. Returns whether all records
  // were stored.
  bool Send(bool announces) {
    std::vector<v1::Record> records;
    if (announces) {
      records = {RunRecord('a'), RunRecord('b'), GraphRecord('a'), AttemptRecord(letter_, 'a'),
                 AttemptRecord(Other(), 'b')};
      records.push_back(RunConfigRecord('a', 7));
    }
    for (int i = 0; i < kRows; ++i) {
      ++row_;
      records.push_back(Row(letter_, row_, 0.5));
      records.push_back(Row(Other(), row_, 0.5));
      records.push_back(DetailRecord(letter_, row_));
    }
    ProducerBatch batch = {.producer_id = id_, .epoch = 1, .first_seq = next_seq_};
    AddRecords(records, &batch);
    const absl::StatusOr<std::vector<BatchOutcome>> outcomes = writer_->CommitBatches({batch});
    EXPECT_TRUE(outcomes.ok()) << outcomes.status();
    if (!outcomes.ok()) return false;
    const BatchOutcome& outcome = outcomes->front();
    EXPECT_TRUE(outcome.status.ok()) << outcome.status;
    next_seq_ = outcome.committed_seq + 1;
    refused_ += outcome.refused.size();
    for (const RefusedRecord& refused : outcome.refused) {
      EXPECT_EQ(refused.reason, v1::Reject::REASON_UNKNOWN_REFERENCE) << refused.message;
    }
    return outcome.refused.empty();
  }

  // Returns the letter of the attempt that is never deleted.
  char Other() const { return static_cast<char>(letter_ - 'a' + 'A'); }
  uint64_t rows() const { return row_; }
  size_t refused() const { return refused_; }

  static constexpr int kRows = 20;

 private:
  const std::unique_ptr<StoreWriter> writer_;
  const char letter_;
  const std::string id_ = std::string(16, letter_);
  uint64_t next_seq_ = 1;
  uint64_t row_ = 0;
  size_t refused_ = 0;
};

TEST_F(DeletionBesideWritersTest, NothingElseIsLostOrRefusedAndNothingIsLeftBehind) {
  constexpr int kBatches = 60;
  const std::unique_ptr<StoreWriter> deleter = OpenWriter();
  const std::unique_ptr<StoreReader> reader = *OpenPostgresqlReader(dataset_->db());
  std::vector<std::unique_ptr<Producer>> producers;
  for (const char letter : {'x', 'y'}) producers.push_back(std::make_unique<Producer>(OpenWriter(), letter));
  std::atomic<int> busy = static_cast<int>(producers.size());
  std::vector<std::thread> threads;
  for (const auto& producer : producers) {
    threads.emplace_back([&producer, &busy] {
      // Only every third batch announces the attempt; the others contain only rows.
      for (int batch = 0; batch < kBatches; ++batch) producer->Send(batch % 3 == 0);
      --busy;
    });
  }
  int deleted = 0;
  while (busy > 0) deleted += DeleteRun(*reader, *deleter, 'a');
  for (std::thread& thread : threads) thread.join();
  deleted += DeleteRun(*reader, *deleter, 'a');
  EXPECT_GT(deleted, 0);

  EXPECT_EQ(CountRows("runs"), "1");
  EXPECT_EQ(CountRows("kernels"), "1");
  EXPECT_EQ(CountRows("attempts"), absl::StrCat(producers.size()));
  EXPECT_EQ(CountRows("measurements"), absl::StrCat(producers.size() * kBatches * Producer::kRows));
  for (const char* table :
       {"measurement_details", "attempt_events", "ir_graphs", "ir_nodes", "ir_edges", "run_configs", "run_settings"}) {
    EXPECT_EQ(CountRows(absl::StrCat(table, " AS t WHERE NOT EXISTS (SELECT 1 FROM runs AS r WHERE r.run = t.run)")),
              "0")
        << table;
  }

  // Rows that are acknowledged after the deletion are stored.
  for (const auto& producer : producers) EXPECT_TRUE(producer->Send(/*announces=*/true));
  EXPECT_EQ(CountRows("measurements"),
            absl::StrCat(producers.size() * (kBatches * Producer::kRows + 2 * Producer::kRows)));
  EXPECT_EQ(CountRows("attempts"), absl::StrCat(2 * producers.size()));
}

TEST_F(DeletionBesideWritersTest, TwoThatDeleteTheSameCountItOnce) {
  constexpr int kAttempts = 40;
  const std::unique_ptr<StoreWriter> writer = OpenWriter();
  ASSERT_TRUE(writer->OpenProducer(std::string(16, 'p'), 1, "test").ok());
  std::vector<v1::Record> records;
  for (int i = 0; i < kAttempts; ++i) {
    records.push_back(AttemptRecord(static_cast<char>('0' + i), 'a'));
    records.push_back(Row(static_cast<char>('0' + i), 1, 0.5));
  }
  ProducerBatch batch = {.producer_id = std::string(16, 'p'), .epoch = 1, .first_seq = 1};
  AddRecords(records, &batch);
  ASSERT_TRUE(writer->CommitBatches({batch}).ok());
  std::atomic<int> deleted = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      const std::unique_ptr<StoreWriter> deleter = OpenWriter();
      const std::unique_ptr<StoreReader> reader = *OpenPostgresqlReader(dataset_->db());
      deleted += DeleteRun(*reader, *deleter, 'a');
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(deleted, kAttempts);
  EXPECT_EQ(CountRows("runs"), "0");
  EXPECT_EQ(CountRows("measurements"), "0");
}

}  // namespace
}  // namespace telemetry::storage::postgresql
