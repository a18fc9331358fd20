// Tests the retention of a dataset that several collectors serve.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/storage/any/any_upkeep.h"
#include "server/storage/postgresql/connection.h"
#include "server/storage/postgresql/pg_retention.h"
#include "server/storage/postgresql/postgresql_store.h"
#include "tests/server/storage/dataset_story.h"
#include "tests/server/storage/test_dataset.h"

namespace telemetry::storage::postgresql {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr absl::Duration kDay = absl::Hours(24);
constexpr PruneRules kKeepThirtyDays = {.keep_age = absl::Hours(24 * 30)};
constexpr PruneRules kKeepNoBytes = {.keep_bytes = 0};

// A dataset that a writer fills, as the first of several collectors.
class PgRetentionTest : public ::testing::Test {
 protected:
  std::unique_ptr<StoreWriter> OpenWriter() { return *OpenPostgresqlWriter(story_.path()); }
  StoreWriter& first() { return story_.writer(); }

  void Arrives(char attempt, char run, int rows = 2) {
    v1::Record ended = AttemptRecord(attempt, run);
    ended.mutable_attempt()->set_state(v1::Attempt::STATE_COMPLETE);
    std::vector<v1::Record> records = {RunRecord(run), ended, DetailRecord(attempt, 1), EventRecord(attempt, 1)};
    for (int i = 1; i <= rows; ++i) records.push_back(Row(attempt, static_cast<uint64_t>(i), 0.5 * i));
    ASSERT_THAT(story_.Send(records).refused, IsEmpty());
  }

  // Takes one step. Returns an empty step if it fails.
  static PruneStep DoAStep(StoreWriter& writer, const PruneRules& rules) {
    const absl::StatusOr<PruneStep> step = writer.PruneSome(rules);
    EXPECT_TRUE(step.ok()) << step.status();
    return step.value_or(PruneStep{.done = true});
  }

  // Makes a pass. Returns all that it removed, with the sizes at its end.
  static PruneStep Pass(StoreWriter& writer, const PruneRules& rules) {
    PruneStep all;
    while (!all.done && !all.is_elsewhere && !HasFailure()) {
      PruneStep step = DoAStep(writer, rules);
      step.rows += all.rows;
      step.rejects += all.rejects;
      step.bytes += all.bytes;
      step.attempts.insert(step.attempts.begin(), all.attempts.begin(), all.attempts.end());
      all = std::move(step);
    }
    return all;
  }

  // Returns the letters of the attempts in the order of arrival.
  std::string Attempts() {
    return story_.Query(
        "SELECT coalesce(string_agg(chr(get_byte(attempt_id, 0)), '' ORDER BY attempt), '') FROM attempts");
  }
  std::string Count(const std::string& table) { return story_.Query("SELECT count(*) FROM " + table); }
  // Brings the server's statistics, which follow with a delay, up to date. A connection reports its rows at its end;
  // rows that it reports after ANALYZE would count twice.
  void Analyze() {
    story_.Restart();
    story_.Query("ANALYZE");
  }
  std::vector<std::string> Damage() { return any::CheckDataset(story_.path())->damage; }

  DatasetStory story_;
};

TEST_F(PgRetentionTest, RemovesWhatIsTooOldButNeverARunsNewestAttempt) {
  Arrives('x', 'a');
  Arrives('y', 'a');
  Arrives('o', 'b');
  ASSERT_TRUE(first().AddServedTime(kDay).ok());
  ASSERT_TRUE(first().AddServedTime(kDay).ok());
  Arrives('z', 'a');
  EXPECT_THAT(Pass(first(), kKeepThirtyDays).attempts, IsEmpty());
  EXPECT_EQ(*first().AddServedTime(30 * kDay), 31 * kDay) << "the first call only took the lock";
  const PruneStep removed = Pass(first(), kKeepThirtyDays);
  EXPECT_THAT(removed.attempts, SizeIs(2));
  EXPECT_EQ(removed.rows, 4);
  EXPECT_EQ(Attempts(), "oz");
  for (const char* table : {"measurements", "measurement_details", "attempt_events"}) {
    EXPECT_EQ(Count(table), table == std::string("measurements") ? "4" : "2") << table;
  }
  EXPECT_EQ(Count("removed_attempts"), "0");
  EXPECT_EQ(Count("runs"), "2");
  EXPECT_THAT(Damage(), IsEmpty());
}

TEST_F(PgRetentionTest, TimeIsCountedOnceAndByAnotherWhenTheFirstIsGone) {
  const std::unique_ptr<StoreWriter> second = OpenWriter();
  EXPECT_EQ(*first().AddServedTime(kDay), absl::ZeroDuration());
  EXPECT_EQ(*second->AddServedTime(kDay), absl::ZeroDuration());
  EXPECT_EQ(*first().AddServedTime(kDay), kDay);
  EXPECT_EQ(*second->AddServedTime(kDay), kDay) << "counted by the first";
  story_.Restart();
  EXPECT_EQ(*second->AddServedTime(kDay), kDay) << "the first may have counted some of it";
  EXPECT_EQ(*second->AddServedTime(kDay), 2 * kDay);
  EXPECT_EQ(*first().AddServedTime(kDay), 2 * kDay);
}

TEST_F(PgRetentionTest, OneAtATimeMakesAPassUntilItEndsOrDies) {
  const std::unique_ptr<StoreWriter> second = OpenWriter();
  for (const char attempt : std::string("pqrst")) Arrives(attempt, 'a', 500);
  Analyze();
  EXPECT_FALSE(DoAStep(first(), kKeepNoBytes).is_elsewhere);
  EXPECT_TRUE(DoAStep(*second, kKeepNoBytes).is_elsewhere);
  EXPECT_EQ(Attempts(), "pqrst");
  EXPECT_THAT(Pass(first(), kKeepNoBytes).attempts, SizeIs(4));
  EXPECT_FALSE(DoAStep(*second, kKeepNoBytes).is_elsewhere);
  EXPECT_TRUE(DoAStep(first(), kKeepNoBytes).is_elsewhere);
}

TEST_F(PgRetentionTest, TheRowsOfALargeAttemptGoInStepsThatAnotherContinues) {
  Arrives('x', 'a', 5000);
  Arrives('y', 'a', 3);
  Analyze();
  while (Attempts() != "y" && !HasFailure()) DoAStep(first(), kKeepNoBytes);
  EXPECT_EQ(Count("measurements"), "5003") << "nothing but the attempt is gone";
  EXPECT_EQ(*story_.OpenReader()->CountProducers(), 1u);
  EXPECT_THAT(Damage(), IsEmpty());
  DoAStep(first(), kKeepNoBytes);
  const int64_t left = std::stoll(Count("measurements"));
  EXPECT_LT(left, 5003);
  EXPECT_GE(left, 5003 - PgRemovedRows::kRowsAtOnce);
  // A killed collector leaves the rest to the next one.
  story_.Restart();
  EXPECT_EQ(Pass(*OpenWriter(), {.keep_rejects_bytes = 1}).rows, left - 3);
  EXPECT_EQ(Count("measurements"), "3");
  EXPECT_EQ(Count("removed_attempts"), "0");
}

TEST_F(PgRetentionTest, BySizeTheFirstToArriveGoUntilItFits) {
  const std::string attempts = "klmnopqr";
  for (const char attempt : attempts) Arrives(attempt, 'a', 3000);
  Analyze();
  const int64_t used = any::PruneDataset(story_.path(), {.rules = kKeepNoBytes, .dry_run = true})->bytes_before;
  EXPECT_GT(used, 8 * 3000 * 80);
  const PruneRules half = {.keep_bytes = used / 2};
  const PruneStep removed = Pass(first(), half);
  EXPECT_LE(removed.counted_bytes, used / 2);
  EXPECT_GE(removed.counted_bytes, used / 2 - 2 * used / 8) << "removes no more than necessary";
  // More than half of the attempts, because empty tables and indexes have a part of the bytes.
  EXPECT_GE(removed.attempts.size(), 4U);
  EXPECT_LT(removed.attempts.size(), attempts.size());
  EXPECT_TRUE(attempts.ends_with(Attempts())) << Attempts();
  // The statistics show at once that the rows are gone.
  EXPECT_THAT(Pass(*OpenWriter(), half).attempts, IsEmpty());
  EXPECT_THAT(Damage(), IsEmpty());
}

TEST_F(PgRetentionTest, WhatAnotherTransactionUsesIsLeftForTheNextPass) {
  Arrives('x', 'a');
  Arrives('y', 'a');
  Analyze();
  PgConnection other(story_.path());
  ASSERT_TRUE(other.Connect().ok());
  ASSERT_TRUE(other.Execute("BEGIN; SELECT 1 FROM runs FOR NO KEY UPDATE").ok());
  EXPECT_THAT(Pass(first(), kKeepNoBytes).attempts, IsEmpty());
  ASSERT_TRUE(other.Execute("ROLLBACK; BEGIN; SELECT 1 FROM attempts FOR KEY SHARE").ok());
  EXPECT_THAT(Pass(first(), kKeepNoBytes).attempts, IsEmpty());
  ASSERT_TRUE(other.Execute("ROLLBACK").ok());
  EXPECT_THAT(Pass(first(), kKeepNoBytes).attempts, SizeIs(1));
}

TEST_F(PgRetentionTest, RowsOfARemovedAttemptFindNobody) {
  Arrives('x', 'a');
  Arrives('y', 'a');
  Analyze();
  while (Attempts() != "y" && !HasFailure()) DoAStep(first(), kKeepNoBytes);
  const BatchOutcome late = story_.Send({Row('x', 3, 1)});
  ASSERT_THAT(late.refused, SizeIs(1));
  EXPECT_EQ(late.refused[0].reason, v1::Reject::REASON_UNKNOWN_REFERENCE);
  Pass(first(), kKeepNoBytes);
  EXPECT_EQ(Count("measurements"), "2");
}

TEST_F(PgRetentionTest, EachSendersOldestRejectsGoBeyondItsBudget) {
  constexpr int kLarge = 30'000;
  constexpr int kRejects = 250;
  std::vector<v1::Record> records(kRejects);
  for (int i = 0; i < kRejects; ++i) {
    records[static_cast<size_t>(i)].mutable_reject()->set_reason(v1::Reject::REASON_UNREADABLE);
    records[static_cast<size_t>(i)].mutable_reject()->set_raw(std::string(kLarge, 'x') + std::to_string(i));
  }
  story_.Send(records);
  EXPECT_EQ(Pass(first(), {.keep_rejects_bytes = 4 * (kLarge + 8192)}).rejects, kRejects - 4);
  EXPECT_EQ(Count("rejects"), "4");
  EXPECT_EQ(story_.Query("SELECT min(reject) = max(reject) - 3 FROM rejects"), "t");
}

TEST_F(PgRetentionTest, TheCommandPrunesBesideACollectorAndVacuums) {
  for (const char attempt : std::string("pqrs")) Arrives(attempt, 'a', 2000);
  const upkeep::PruneOptions options = {.rules = kKeepNoBytes};
  ASSERT_FALSE(DoAStep(first(), kKeepNoBytes).is_elsewhere);
  EXPECT_TRUE(absl::IsAlreadyExists(any::PruneDataset(story_.path(), options).status()));
  story_.Restart();
  EXPECT_THAT(any::PruneDataset(story_.path(), {.rules = kKeepNoBytes, .dry_run = true})->attempts, SizeIs(3));
  const absl::StatusOr<upkeep::PruneReport> report = any::PruneDataset(story_.path(), options);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_THAT(report->attempts, SizeIs(3));
  EXPECT_EQ(report->attempts.front().rows, 2000);
  EXPECT_LT(report->bytes_after, report->bytes_before - int64_t{3} * 2000 * 80);
  EXPECT_EQ(Attempts(), "s");
  // The space of the rows is used again at once, that of the indexes after the next vacuum.
  const std::string size = "SELECT sum(pg_relation_size(oid)) FROM pg_class WHERE relname ~ '^measurements_[0-9]+$'";
  const int64_t before = std::stoll(story_.Query(size));
  for (const char attempt : std::string("tuv")) Arrives(attempt, 'a', 2000);
  EXPECT_LE(std::stoll(story_.Query(size)), before + before / 10);
}

TEST_F(PgRetentionTest, OnlyOnRequestARunGoesWithItsLastAttempt) {
  Arrives('x', 'a');
  upkeep::PruneOptions options = {.rules = kKeepNoBytes};
  EXPECT_THAT(any::PruneDataset(story_.path(), options)->attempts, IsEmpty());
  options.rules.also_only_attempts = true;
  EXPECT_THAT(any::PruneDataset(story_.path(), options)->attempts, SizeIs(1));
  for (const char* table : {"runs", "kernels", "attempts", "measurements"}) EXPECT_EQ(Count(table), "0") << table;
  EXPECT_THAT(Damage(), IsEmpty());
}

}  // namespace
}  // namespace telemetry::storage::postgresql
