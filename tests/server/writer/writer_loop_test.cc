#include "server/writer/writer_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"

namespace telemetry::collector {
namespace {

using testing::ElementsAre;

// A writer that stores nothing. It records the producers of each transaction's batches and openings.
class TransactionList final : public storage::StoreWriter {
 public:
  // The first transaction notifies `began` and blocks until `go_on` is notified.
  TransactionList(absl::Notification& began, absl::Notification& go_on, std::vector<std::string>& transactions)
      : began_(began), go_on_(go_on), transactions_(transactions) {}

  const std::string& dataset_id() const override { return dataset_id_; }
  absl::StatusOr<std::vector<storage::OpenOutcome>> OpenProducers(
      absl::Span<const storage::ProducerOpening> openings) override {
    std::string text = "open";
    for (const storage::ProducerOpening& opening : openings) text += " " + opening.producer_id;
    Add(text);
    return std::vector<storage::OpenOutcome>(openings.size());
  }
  absl::StatusOr<std::vector<storage::BatchOutcome>> CommitBatches(
      absl::Span<const storage::ProducerBatch> batches) override {
    std::string text = "commit";
    for (const storage::ProducerBatch& batch : batches) text += " " + batch.producer_id;
    Add(text);
    return std::vector<storage::BatchOutcome>(batches.size());
  }
  absl::StatusOr<absl::Duration> AddServedTime(absl::Duration passed) override { return passed; }
  absl::StatusOr<storage::PruneStep> PruneSome(const storage::PruneRules& /*rules*/) override {
    return storage::PruneStep{};
  }
  absl::StatusOr<v1::DeleteStep> RemoveAttempts(const storage::Removal& removal) override {
    Add("remove " + std::to_string(removal.keys.front()));
    return v1::DeleteStep();
  }
  absl::StatusOr<std::vector<storage::CachePutOutcome>> PutCacheEntries(
      absl::Span<const storage::CachePut> puts, const storage::CacheBudget& /*budget*/) override {
    std::string text = "put";
    for (const storage::CachePut& put : puts) text += " " + put.entry.key();
    Add(text);
    return std::vector<storage::CachePutOutcome>(puts.size());
  }
  absl::StatusOr<storage::ModelOutcome> ChangeModels(const storage::ModelChange& change,
                                                     const storage::ModelBudget& /*budget*/) override {
    Add("model " + std::get<storage::ModelRemoval>(change).sender);
    return storage::ModelOutcome{};
  }
  absl::Status Idle() override { return absl::OkStatus(); }

 private:
  void Add(const std::string& text) {
    if (transactions_.empty()) began_.Notify();
    go_on_.WaitForNotification();
    transactions_.push_back(text);
  }

  const std::string dataset_id_ = std::string(16, 'd');
  absl::Notification& began_;
  absl::Notification& go_on_;
  std::vector<std::string>& transactions_;
};

class WriterLoopTest : public testing::Test {
 protected:
  explicit WriterLoopTest(const call::Limits& limits = {.group_records = 1000, .group_bytes = 1 << 20})
      : loop_(std::make_unique<TransactionList>(began_, go_on_, transactions_), limits,
              {.on_fatal = [](const absl::Status& status) { FAIL() << status; }}, guard_, retention_) {
    Open("first");
    began_.WaitForNotification();
  }

  void Commit(const std::string& producer, uint64_t rows, uint64_t bytes = 100, const std::string& sender = "sender") {
    const batch::PieceOutline piece{.records = 0, .record_bytes = bytes, .memory_bytes = bytes, .rows = rows};
    loop_.Commit(sender, std::make_unique<batch::ParsedBatch>(producer, 0, 1, piece),
                 [](const storage::BatchOutcome& /*outcome*/) {});
  }
  void Open(const std::string& producer) {
    loop_.Open({.producer_id = producer}, [](const storage::OpenOutcome& /*outcome*/) {});
  }
  void Remove(int64_t attempt, bool is_wanted = true) {
    loop_.Remove(
        {.keys = {attempt}, .attempts = {{}}, .empty_runs_of = ""}, [is_wanted] { return is_wanted; },
        [this](const absl::StatusOr<v1::DeleteStep>& step) { removals_.push_back(step.status().code()); });
  }
  void Put(const std::string& key, size_t value_bytes = 100) {
    storage::CachePut put = {.sender = "sender", .entry = {}};
    put.entry.set_key(key);
    put.entry.set_value(std::string(value_bytes, 'v'));
    loop_.Put(std::move(put),
              [this](const storage::CachePutOutcome& outcome) { puts_.push_back(outcome.status.code()); });
  }
  void ChangeModels(const std::string& sender) {
    loop_.ChangeModels(
        storage::ModelRemoval{.sender = sender, .sha256 = ""},
        [this](const storage::ModelOutcome& outcome) { model_changes_.push_back(outcome.status.code()); });
  }
  // Returns the transactions of all jobs that were queued while the first transaction, which opens a producer, was
  // running.
  std::vector<std::string> Transactions() {
    go_on_.Notify();
    loop_.Stop();
    transactions_.erase(transactions_.begin());
    return transactions_;
  }

  absl::Notification began_;
  absl::Notification go_on_;
  std::vector<std::string> transactions_;
  std::vector<absl::StatusCode> removals_;       // status codes of the removals
  std::vector<absl::StatusCode> model_changes_;  // status codes of the changes of models
  std::vector<absl::StatusCode> puts_;           // status codes of the puts
  writer::DiskGuard guard_{writer::DiskGuardOptions{}};
  writer::Retention retention_{writer::RetentionOptions{}};
  writer::WriterLoop loop_;
};

class WriterLoopUrgencyTest : public WriterLoopTest {
 protected:
  WriterLoopUrgencyTest() : WriterLoopTest(call::Limits{}) {}
};

TEST_F(WriterLoopTest, ALightProducerWaitsForNoHeavyOnes) {
  for (const char* producer : {"a", "a", "b", "b"}) Commit(producer, 1500);
  Commit("light", 1);
  EXPECT_THAT(Transactions(), ElementsAre("commit light", "commit a", "commit a", "commit b", "commit b"));
}

TEST_F(WriterLoopTest, AHeavyProducerWaitsForOneTransactionOfLightOnes) {
  Commit("heavy", 5000);
  for (int i = 0; i < 40; ++i) Commit("light " + std::to_string(i), 100);
  const std::vector<std::string> transactions = Transactions();
  ASSERT_GT(transactions.size(), 1u);
  EXPECT_THAT(transactions[0], testing::Not(testing::HasSubstr("heavy")));
  EXPECT_THAT(transactions[1], testing::HasSubstr("heavy"));
}

TEST_F(WriterLoopTest, ASenderWithManyProducersLeavesRoomForOthers) {
  for (int i = 0; i < 20; ++i) Commit("many " + std::to_string(i), 240, 100, "a");
  for (int i = 0; i < 20; ++i) Commit("light " + std::to_string(i), 100, 100, "a");
  Commit("b heavy", 240, 100, "b");
  Commit("b light", 100, 100, "b");
  const std::vector<std::string> transactions = Transactions();
  ASSERT_GT(transactions.size(), 1u);
  EXPECT_THAT(transactions[0], testing::HasSubstr("b light"));
  EXPECT_THAT(transactions[1], testing::HasSubstr("b heavy"));
}

TEST_F(WriterLoopUrgencyTest, TransactionsAreSmallerWhileALightProducerOfAnotherSenderComes) {
  for (int i = 0; i < 5; ++i) Commit("heavy " + std::to_string(i), 4000, 100, "a");
  Commit("light", 1, 100, "b");
  EXPECT_THAT(Transactions(), ElementsAre("commit light", "commit heavy 0", "commit heavy 1", "commit heavy 2",
                                          "commit heavy 3", "commit heavy 4"));
}

TEST_F(WriterLoopUrgencyTest, TransactionsAreLargeForASingleSender) {
  for (int i = 0; i < 5; ++i) Commit("heavy " + std::to_string(i), 4000);
  Commit("light", 1);
  EXPECT_THAT(Transactions(), ElementsAre("commit light", "commit heavy 0 heavy 1 heavy 2 heavy 3 heavy 4"));
}

TEST_F(WriterLoopTest, WhileRecordsWaitOneRemovalIsDoneAtATime) {
  Remove(1);
  Remove(2);
  for (const char* producer : {"a", "b", "c"}) Commit(producer, 1000);
  const std::vector<std::string> transactions = Transactions();
  ASSERT_GE(transactions.size(), 4u);
  // The second removal runs later, or not at all if the loop is stopped first.
  EXPECT_THAT(std::vector<std::string>(transactions.begin(), transactions.begin() + 4),
              ElementsAre("remove 1", "commit a", "commit b", "commit c"));
  EXPECT_EQ(removals_.size(), 2u);
}

TEST_F(WriterLoopTest, ARemovalThatNobodyWantsAnyMoreIsNotDone) {
  Remove(1, /*is_wanted=*/false);
  Commit("a", 1);
  EXPECT_THAT(Transactions(), ElementsAre("commit a"));
  EXPECT_THAT(removals_, ElementsAre(absl::StatusCode::kCancelled));
}

TEST_F(WriterLoopTest, PutsShareATransactionAndLeaveRoomForRecords) {
  Put("1");
  Put("2", 3 << 20);
  Put("3");
  for (const char* producer : {"a", "b", "c"}) Commit(producer, 1000);
  const std::vector<std::string> transactions = Transactions();
  ASSERT_GE(transactions.size(), 4u);
  EXPECT_EQ(transactions[0], "put 1 2");
  EXPECT_EQ(transactions[1], "commit a");
  // The third put runs later, or not at all if the loop is stopped first.
  EXPECT_EQ(puts_.size(), 3u);
}

TEST_F(WriterLoopTest, WhileRecordsWaitOneChangeOfModelsIsDoneAtATime) {
  ChangeModels("1");
  ChangeModels("2");
  for (const char* producer : {"a", "b", "c"}) Commit(producer, 1000);
  const std::vector<std::string> transactions = Transactions();
  ASSERT_GE(transactions.size(), 4u);
  // The second change runs later, or not at all if the loop is stopped first.
  EXPECT_THAT(std::vector<std::string>(transactions.begin(), transactions.begin() + 4),
              ElementsAre("model 1", "commit a", "commit b", "commit c"));
  EXPECT_EQ(model_changes_.size(), 2u);
}

TEST_F(WriterLoopTest, OpeningsOfManyProducersTakeSeveralTransactions) {
  for (int i = 0; i < 300; ++i) Open("x");
  Commit("a", 1);
  const std::vector<std::string> transactions = Transactions();
  ASSERT_EQ(transactions.size(), 3u);
  EXPECT_EQ(transactions[0], "commit a");
  EXPECT_THAT(transactions[1], testing::StartsWith("open"));
  EXPECT_THAT(transactions[2], testing::StartsWith("open"));
}

TEST_F(WriterLoopTest, ABatchOfManyBytesLeavesRoomForOthers) {
  for (int i = 0; i < 8; ++i) Commit("a", 1, 200 << 10);
  Commit("b", 1, 200 << 10);
  const std::vector<std::string> transactions = Transactions();
  ASSERT_FALSE(transactions.empty());
  EXPECT_THAT(transactions[0], testing::HasSubstr(" b"));
}

TEST_F(WriterLoopTest, BatchesOfOneProducerKeepTheirOrder) {
  Commit("a", 1500);
  Commit("a", 1);
  Commit("b", 1);
  EXPECT_THAT(Transactions(), ElementsAre("commit b", "commit a", "commit a"));
}

TEST_F(WriterLoopTest, OpeningsAndBatchesTakeTurns) {
  Commit("a", 1500);
  Commit("a", 1500);
  Open("x");
  Open("y");
  Commit("b", 1500);
  EXPECT_THAT(Transactions(), ElementsAre("commit a", "open x y", "commit a", "commit b"));
}

}  // namespace
}  // namespace telemetry::collector
