#include "server/collector/writer_loop.h"

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

// A dataset that stores nothing: it writes down whose batches each transaction has, and whose openings.
class TransactionList final : public storage::StoreWriter {
 public:
  // The first transaction notifies `began`, and ends when `go_on` is notified.
  TransactionList(absl::Notification& began, absl::Notification& go_on, std::vector<std::string>& transactions)
      : began_(began), go_on_(go_on), transactions_(transactions) {}

  const std::string& dataset_id() const override { return dataset_id_; }
  absl::StatusOr<std::vector<absl::StatusOr<uint64_t>>> OpenProducers(
      absl::Span<const storage::ProducerOpening> openings) override {
    std::string text = "open";
    for (const storage::ProducerOpening& opening : openings) text += " " + opening.producer_id;
    Add(text);
    return std::vector<absl::StatusOr<uint64_t>>(openings.size(), 0);
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
  WriterLoopTest() {
    Open("first");
    began_.WaitForNotification();
  }

  void Commit(const std::string& producer, uint64_t rows, uint64_t bytes = 100) {
    const PieceOutline piece{.records = 0, .record_bytes = bytes, .memory_bytes = bytes, .rows = rows};
    loop_.Commit(std::make_unique<ParsedBatch>(producer, 0, 1, piece), [](const storage::BatchOutcome& /*outcome*/) {});
  }
  void Open(const std::string& producer) {
    loop_.Open({.producer_id = producer}, [](const absl::StatusOr<uint64_t>& /*committed_seq*/) {});
  }
  // Returns the transactions of all that was queued while the first one, which opens a producer, was under way.
  std::vector<std::string> Transactions() {
    go_on_.Notify();
    loop_.Stop();
    transactions_.erase(transactions_.begin());
    return transactions_;
  }

  absl::Notification began_;
  absl::Notification go_on_;
  std::vector<std::string> transactions_;
  DiskGuard guard_{DiskGuardOptions{}};
  Retention retention_{RetentionOptions{}};
  WriterLoop loop_{std::make_unique<TransactionList>(began_, go_on_, transactions_),
                   Limits{.group_records = 1000, .group_bytes = 1 << 20},
                   {.on_fatal = [](const absl::Status& status) { FAIL() << status; }},
                   guard_,
                   retention_};
};

TEST_F(WriterLoopTest, ASmallBatchWaitsForNoLargeOnes) {
  for (const char* producer : {"a", "a", "b", "b"}) Commit(producer, 1500);
  Commit("small", 1);
  EXPECT_THAT(Transactions(), ElementsAre("commit small a", "commit a", "commit b", "commit b"));
}

TEST_F(WriterLoopTest, ALargeBatchIsNotPutOffForSmallOnes) {
  Commit("large", 5000);
  for (int i = 0; i < 20; ++i) Commit("small " + std::to_string(i), 100);
  const std::vector<std::string> transactions = Transactions();
  ASSERT_FALSE(transactions.empty());
  EXPECT_THAT(transactions[0], testing::EndsWith(" large"));
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
  EXPECT_THAT(Transactions(), ElementsAre("commit b a", "commit a"));
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
