#include "server/writer/batch_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/environment.h"

namespace telemetry::collector {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr absl::Duration kQuick = absl::Milliseconds(1);
constexpr absl::Duration kLong = absl::Hours(1);
constexpr uint64_t kPieceRows = call::kShortPiece.rows;

class BatchQueueTest : public testing::Test {
 protected:
  void Add(const std::string& sender, const std::string& producer, uint64_t rows, uint64_t seq = 1) {
    const batch::PieceOutline piece{.records = 0, .record_bytes = 100, .memory_bytes = 100, .rows = rows};
    queue_.Add({sender, std::make_unique<batch::ParsedBatch>(producer, /*epoch=*/0, seq, piece), nullptr});
  }
  void AddIndivisible(const std::string& sender, const std::string& producer) { Add(sender, producer, kPieceRows + 1); }
  // After this, light batches come among those of other senders.
  void MakeUrgent() {
    Add("other", "light", 1);
    Add("sender", "light too", 1);
    ASSERT_TRUE(queue_.IsUrgent());
    EXPECT_THAT(Take(), ElementsAre("light", "light too"));
  }
  // Returns the producers of the next transaction.
  std::vector<std::string> Take(absl::Duration commit = kQuick, absl::Duration tidying = absl::ZeroDuration()) {
    std::vector<std::string> producers;
    for (const writer::BatchQueue::Entry& entry : queue_.Take()) producers.push_back(entry.batch->producer_id());
    queue_.AddCommit(commit, tidying);
    return producers;
  }

  SteadyTime now_ = SteadyNow();
  writer::BatchQueue queue_{call::Limits{}, [this] { return now_; }};
};

TEST_F(BatchQueueTest, ATransactionTakesAllWhileNobodyElseWaits) {
  for (int i = 0; i < 20; ++i) Add("sender", "a", kPieceRows);
  AddIndivisible("sender", "b");
  Add("sender", "b", 1);
  EXPECT_THAT(Take(), SizeIs(22));
  EXPECT_TRUE(queue_.empty());
}

TEST_F(BatchQueueTest, TransactionsBecomeAsShortAsTheWriterIsSlow) {
  MakeUrgent();
  for (int i = 0; i < 400; ++i) Add("sender", "heavy", kPieceRows);
  EXPECT_THAT(Take(), SizeIs(4)) << "the limit at first";
  EXPECT_THAT(Take(absl::Milliseconds(5)), SizeIs(4));
  EXPECT_THAT(Take(absl::Milliseconds(5)), SizeIs(3));
  for (int i = 0; i < 10; ++i) Take(kLong);
  for (int i = 0; i < 10; ++i) EXPECT_THAT(Take(kQuick), SizeIs(1)) << "quick ones right after slow ones prove little";
  for (int i = 0; i < 25; ++i) {
    now_ += std::chrono::milliseconds(100);
    Add("sender", "heavy", kPieceRows);
    Add("other", "light", 1);
    Take(kQuick);
  }
  EXPECT_THAT(Take(), SizeIs(4));
}

// A sender could otherwise raise the limit with cheap records and then send expensive ones.
TEST_F(BatchQueueTest, AFullTransactionLowersTheLimitInProportionToItsTime) {
  MakeUrgent();
  for (int i = 0; i < 20; ++i) Add("sender", "heavy", kPieceRows);
  EXPECT_THAT(Take(absl::Milliseconds(20)), SizeIs(4)) << "the limit at first";
  EXPECT_THAT(Take(absl::Milliseconds(20)), SizeIs(1)) << "a quarter, for four times the time";
}

TEST_F(BatchQueueTest, ASmallTransactionOnASlowDiskHardlyLowersTheLimit) {
  MakeUrgent();
  Add("other", "light", 1);
  EXPECT_THAT(Take(absl::Milliseconds(50)), ElementsAre("light"));
  for (int i = 0; i < 20; ++i) Add("sender", "heavy", kPieceRows);
  EXPECT_THAT(Take(), SizeIs(3));
}

TEST_F(BatchQueueTest, AnIndivisibleBatchHasATransactionOfItsOwn) {
  MakeUrgent();
  AddIndivisible("sender", "large");
  Add("sender", "large", 1);
  Add("sender", "small", 1);
  EXPECT_THAT(Take(), ElementsAre("large")) << "in turn with light batches, which were the last";
  EXPECT_THAT(Take(), ElementsAre("small", "large"));
  EXPECT_TRUE(queue_.empty());
}

TEST_F(BatchQueueTest, AfterALongTransactionIndivisibleBatchesWait) {
  MakeUrgent();
  for (const char* producer : {"a", "b"}) AddIndivisible("sender", producer);
  EXPECT_THAT(Take(kLong), ElementsAre("a"));
  EXPECT_FALSE(queue_.IsReady());
  Add("sender", "b", 1);
  EXPECT_FALSE(queue_.IsReady()) << "it waits behind the indivisible batch of its producer";
  Add("other", "light", 1);
  EXPECT_THAT(Take(), ElementsAre("light"));
  EXPECT_FALSE(queue_.IsReady());
  now_ += std::chrono::seconds(2);
  EXPECT_THAT(Take(), SizeIs(2)) << "no light batches come any more";
}

TEST_F(BatchQueueTest, ThePauseAfterAnIndivisibleBatchIsInProportionToItsTime) {
  MakeUrgent();
  for (const char* producer : {"a", "b"}) AddIndivisible("sender", producer);
  EXPECT_THAT(Take(absl::Milliseconds(23), absl::Milliseconds(7)), ElementsAre("a"));
  for (int second = 0; second < 6; ++second) {
    EXPECT_FALSE(queue_.IsReady()) << second;
    Add("other", "light", 1);
    EXPECT_THAT(Take(), ElementsAre("light"));
    now_ += std::chrono::milliseconds(990);
  }
  now_ += std::chrono::milliseconds(600);
  EXPECT_THAT(Take(), ElementsAre("b"));
}

TEST_F(BatchQueueTest, AfterATransactionOfMediumTimeThePauseIsShort) {
  MakeUrgent();
  for (const char* producer : {"a", "b"}) AddIndivisible("sender", producer);
  EXPECT_THAT(Take(absl::Milliseconds(4)), ElementsAre("a"));
  now_ += std::chrono::milliseconds(399);
  EXPECT_FALSE(queue_.IsReady());
  now_ += std::chrono::milliseconds(1);
  EXPECT_THAT(Take(), ElementsAre("b"));
}

TEST_F(BatchQueueTest, AfterAQuickTransactionIndivisibleBatchesDoNotWait) {
  MakeUrgent();
  for (const char* producer : {"a", "b"}) AddIndivisible("sender", producer);
  EXPECT_THAT(Take(kQuick), ElementsAre("a"));
  EXPECT_THAT(Take(kQuick), ElementsAre("b"));
}

TEST_F(BatchQueueTest, SendersTakeTurnsWithIndivisibleBatches) {
  MakeUrgent();
  for (const char* producer : {"a", "b", "c"}) AddIndivisible("many", producer);
  AddIndivisible("one", "d");
  EXPECT_THAT(Take(), ElementsAre("a"));
  EXPECT_THAT(Take(), ElementsAre("d"));
  EXPECT_THAT(Take(), ElementsAre("b"));
  EXPECT_THAT(Take(), ElementsAre("c"));
}

// A light batch stays urgent while large batches of another sender are held back, even if its own sender was the last.
TEST_F(BatchQueueTest, HeldBatchesOfOthersKeepTheQueueUrgent) {
  MakeUrgent();
  AddIndivisible("attacker", "large");
  AddIndivisible("attacker", "large");
  EXPECT_THAT(Take(kLong), ElementsAre("large"));
  for (int i = 0; i < 4; ++i) {
    Add("sender", "light", 1);
    EXPECT_THAT(Take(), ElementsAre("light"));
    now_ += std::chrono::milliseconds(900);
    EXPECT_TRUE(queue_.IsUrgent()) << i;
  }
}

TEST_F(BatchQueueTest, TheBatchesOfAProducerKeepTheirOrder) {
  std::mt19937_64 random(TestSeed());
  std::map<std::string, uint64_t> added;
  std::map<std::string, uint64_t> taken;
  const auto expect_order = [&](const std::vector<writer::BatchQueue::Entry>& entries) {
    for (const writer::BatchQueue::Entry& entry : entries) {
      const std::string& producer = entry.batch->producer_id();
      EXPECT_EQ(entry.batch->mutable_batch().first_seq, ++taken[producer]) << producer;
    }
  };
  for (int step = 0; step < 10'000; ++step) {
    const std::string producer(1, static_cast<char>('a' + random() % 6));
    if (random() % 3 > 0) {
      const std::string sender = producer < "d" ? "first" : "second";
      Add(sender, producer, 1 + random() % (kPieceRows * 5 / 4), ++added[producer]);
    } else if (queue_.IsReady()) {
      const std::vector<writer::BatchQueue::Entry> entries = queue_.Take();
      EXPECT_THAT(entries, testing::Not(IsEmpty()));
      expect_order(entries);
      queue_.AddCommit(absl::Microseconds(random() % 10'000), absl::Microseconds(random() % 5000));
    }
  }
  expect_order(queue_.TakeAll());
  EXPECT_EQ(taken, added);
}

}  // namespace
}  // namespace telemetry::collector
