// Tests several writers of one dataset, as in several collectors.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/storage/postgresql/postgresql_store.h"
#include "tests/environment.h"
#include "tests/server/storage/dataset_story.h"
#include "tests/server/storage/test_dataset.h"

namespace telemetry::storage::postgresql {
namespace {

class ManyWritersTest : public ::testing::Test {
 protected:
  static constexpr int kWriters = 3;

  ManyWritersTest() {
    for (auto& writer : writers_) writer = *OpenPostgresqlWriter(dataset_->db(), {.patience = absl::Seconds(60)});
  }

  BatchOutcome Send(StoreWriter& writer, const std::string& producer, uint64_t first_seq,
                    const std::vector<v1::Record>& records, uint64_t epoch = 1) {
    ProducerBatch batch = {.producer_id = producer, .epoch = epoch, .first_seq = first_seq};
    AddRecords(records, &batch);
    const absl::StatusOr<std::vector<BatchOutcome>> outcomes = writer.CommitBatches({batch});
    EXPECT_TRUE(outcomes.ok()) << outcomes.status();
    return outcomes.ok() ? outcomes->front() : BatchOutcome{.status = outcomes.status(), .refused = {}};
  }

  const std::unique_ptr<TestDataset> dataset_ = NewPostgresqlDataset();
  std::unique_ptr<StoreWriter> writers_[kWriters];
  const std::string producer_ = std::string(16, 'p');
};

TEST_F(ManyWritersTest, AProducerGoesOnWithAnotherCollector) {
  ASSERT_TRUE(writers_[0]->OpenProducer(producer_, 1, "test").ok());
  Send(*writers_[0], producer_, 1, {AttemptRecord('x', 'a'), Row('x', 1, 0.5)});
  EXPECT_EQ(*writers_[1]->OpenProducer(producer_, 1, "test"), 2u);
  const BatchOutcome outcome = Send(*writers_[1], producer_, 2, {Row('x', 1, 0.5), Row('x', 2, 0.5)});
  EXPECT_EQ(outcome.skipped, 1u);
  EXPECT_EQ(outcome.committed_seq, 3u);
  // The first writer reads the progress that the second one made.
  EXPECT_EQ(Send(*writers_[0], producer_, 3, {Row('x', 2, 0.5), Row('x', 3, 0.5)}).skipped, 1u);
  EXPECT_EQ(dataset_->Query("SELECT count(*) FROM measurements"), "3");
}

TEST_F(ManyWritersTest, AHigherEpochFencesTheLowerAtEveryCollector) {
  ASSERT_TRUE(writers_[0]->OpenProducer(producer_, 1, "test").ok());
  ASSERT_TRUE(writers_[1]->OpenProducer(producer_, 2, "test").ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(Send(*writers_[0], producer_, 1, {AttemptRecord('x', 'a')}).status));
  EXPECT_TRUE(absl::IsFailedPrecondition(writers_[2]->OpenProducer(producer_, 1, "test").status()));
}

TEST_F(ManyWritersTest, AnAttemptSupersededElsewhereTakesNoMoreRows) {
  ASSERT_TRUE(writers_[0]->OpenProducer(producer_, 1, "test").ok());
  v1::Record shorter = AttemptRecord('x', 'a');
  shorter.mutable_attempt()->set_provisional(true);
  v1::Record longer = AttemptRecord('y', 'a');
  longer.mutable_attempt()->add_supersedes(AttemptId('x'));
  Send(*writers_[0], producer_, 1, {shorter, Row('x', 1, 0.5)});
  Send(*writers_[1], producer_, 3, {longer});
  const BatchOutcome late = Send(*writers_[0], producer_, 4, {Row('x', 2, 0.5)});
  EXPECT_EQ(late.committed_seq, 4u);
  EXPECT_TRUE(late.refused.empty());
  EXPECT_EQ(dataset_->Query("SELECT count(*) FROM measurements"), "0");
}

// All writers send the same runs, configs and attempts at the same time, each in its own order, which causes as many
// lock conflicts as possible.
TEST_F(ManyWritersTest, WhatAllSendAtOnceIsStoredOnce) {
  const unsigned seed = TestSeed();
  constexpr int kRounds = 8;
  constexpr int kConfigs = 40;
  const std::string kAttempts = "stuvwxyz";
  std::vector<v1::Record> all;
  for (const char run : std::string("abcd")) all.push_back(RunRecord(run));
  for (size_t i = 0; i < kAttempts.size(); ++i) all.push_back(AttemptRecord(kAttempts[i], "abcd"[i % 4]));
  for (int i = 1; i <= kConfigs; ++i) {
    all.push_back(ConfigRecord(static_cast<uint64_t>(i), absl::StrCat("Config(warps=", i, ", stages=", i % 3, ")")));
  }
  std::vector<std::thread> threads;
  for (int w = 0; w < kWriters; ++w) {
    threads.emplace_back([&, w] {
      std::mt19937 random(seed + static_cast<unsigned>(w));
      std::vector<v1::Record> records = all;
      for (int round = 0; round < kRounds; ++round) {
        std::shuffle(records.begin(), records.end(), random);
        for (const char attempt : kAttempts) {
          records.push_back(Row(attempt, static_cast<uint64_t>(round) + 1, 0.5, 1));
        }
        const std::string producer(16, static_cast<char>('0' + w));
        const absl::StatusOr<uint64_t> committed_seq = writers_[w]->OpenProducer(producer, 1, "test");
        ASSERT_TRUE(committed_seq.ok()) << committed_seq.status();
        EXPECT_EQ(Send(*writers_[w], producer, *committed_seq + 1, records).committed_seq,
                  *committed_seq + records.size());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(dataset_->Query("SELECT count(*) FROM runs"), "4");
  EXPECT_EQ(dataset_->Query("SELECT count(*) FROM kernels"), "1");
  EXPECT_EQ(dataset_->Query("SELECT count(*) FROM attempts"), absl::StrCat(kAttempts.size()));
  EXPECT_EQ(dataset_->Query("SELECT count(*) FROM configs"), absl::StrCat(kConfigs));
  EXPECT_EQ(dataset_->Query("SELECT count(*) FROM config_texts WHERE text IS NULL"), "0");
  EXPECT_EQ(dataset_->Query("SELECT count(*) FROM measurements"), absl::StrCat(kRounds * kAttempts.size()));
}

}  // namespace
}  // namespace telemetry::storage::postgresql
