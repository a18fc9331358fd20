#include "server/storage/upkeep/prune.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "proto/record/ids.h"
#include "server/storage/sqlite/sqlite_database.h"
#include "server/storage/upkeep/backup.h"
#include "server/storage/upkeep/check.h"
#include "tests/server/storage/dataset_story.h"

namespace telemetry::storage::upkeep {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

const absl::Time kStart = absl::FromUnixSeconds(1'700'000'000);

absl::Time Day(int day) { return kStart + absl::Hours(24 * day); }

v1::Record Ended(v1::Record attempt) {
  attempt.mutable_attempt()->set_state(v1::Attempt::STATE_COMPLETE);
  return attempt;
}

// A dataset that is served day by day, and whose attempts arrive on different days.
class PruneTest : public testing::Test {
 protected:
  PruneTest() : story_({.clock = [this] { return Day(day_) + clock_error_; }}) {}

  void ServeUntil(int day) {
    for (; day_ < day; ++day_) ASSERT_TRUE(story_.writer().AddServedTime(absl::Hours(24)).ok());
  }

  void Arrives(int day, char attempt, char run, int rows = 2) {
    ServeUntil(day);
    std::vector<v1::Record> records = {RunRecord(run), GraphRecord(run), Ended(AttemptRecord(attempt, run))};
    for (int i = 1; i <= rows; ++i) records.push_back(Row(attempt, static_cast<uint64_t>(i), 0.5 * i));
    records.push_back(DetailRecord(attempt, 1));
    records.push_back(EventRecord(attempt, 1));
    ASSERT_THAT(story_.Send(records).refused, IsEmpty());
  }

  // Returns the letters of the attempts that are removed.
  std::string Letters(const std::vector<PrunedAttempt>& attempts) {
    std::string letters;
    for (const PrunedAttempt& attempt : attempts) {
      letters += static_cast<char>(std::stoi(attempt.attempt_id.substr(0, 2), nullptr, 16));
    }
    return letters;
  }

  std::string Prune(const PruneRules& rules, int day, bool dry_run = false) {
    ServeUntil(day);
    return Letters({.rules = rules, .dry_run = dry_run});
  }

  // Prunes with a trusted clock that shows this day.
  std::string PruneByClock(const PruneRules& rules, int day) {
    return Letters({.rules = rules, .trusted_now = Day(day), .dry_run = false});
  }

  std::string Letters(const PruneOptions& options) {
    const absl::StatusOr<PruneReport> report = PruneClosed(options);
    return report.ok() ? Letters(report->attempts) : report.status().ToString();
  }

  // Prunes a copy, since the story holds the lock of its own file.
  absl::StatusOr<PruneReport> PruneClosed(const PruneOptions& options) {
    const std::string copy = folder_.File("pruned.db");
    std::filesystem::remove(copy);
    EXPECT_TRUE(BackUpDataset(story_.path(), copy).ok());
    path_ = copy;
    return PruneDataset(copy, options);
  }

  std::string Count(const std::string& table) {
    absl::StatusOr<sqlite::SqliteDatabase> database = sqlite::SqliteDatabase::Open(path_, {.read_only = true});
    return std::to_string(database->QueryInt(("SELECT count(*) FROM " + table).c_str()).value_or(-1));
  }

  int day_ = 0;
  absl::Duration clock_error_;
  TempFolder folder_;
  DatasetStory story_;
  std::string path_;
};

TEST_F(PruneTest, RemovesWhatIsTooOldButNeverARunsNewestAttempt) {
  Arrives(0, 'x', 'a');
  Arrives(1, 'y', 'a');
  Arrives(50, 'z', 'a');
  Arrives(2, 'o', 'b');
  const PruneRules rules = {.keep_age = absl::Hours(24 * 30)};
  EXPECT_EQ(Prune(rules, 60, /*dry_run=*/true), "xy");
  EXPECT_EQ(Count("attempts"), "4");
  EXPECT_EQ(Prune(rules, 60), "xy");
  EXPECT_EQ(Count("attempts"), "2");
  EXPECT_EQ(Count("measurements"), "4");
  EXPECT_EQ(Count("measurement_details"), "2");
  EXPECT_EQ(Count("attempt_events"), "2");
  EXPECT_EQ(Count("runs"), "2");
  EXPECT_THAT(CheckDataset(path_)->damage, IsEmpty());
}

TEST_F(PruneTest, AnAttemptOfAnUnknownRunGoesWithItsStandIn) {
  ServeUntil(1);
  v1::Record unlinked = Ended(AttemptRecord('u', 'a'));
  unlinked.mutable_attempt()->set_run_id(record::UnknownRunId(AttemptId('u')));
  ASSERT_THAT(story_.Send({unlinked, EventRecord('u', 1)}).refused, IsEmpty());
  Arrives(50, 'z', 'a');
  EXPECT_EQ(Prune({.keep_age = absl::Hours(24 * 30)}, 60), "u");
  EXPECT_EQ(Count("attempts"), "1");
  EXPECT_EQ(Count("runs"), "1");
  EXPECT_EQ(Count("attempt_events"), "1");
}

TEST_F(PruneTest, RunsGoWithTheirOnlyAttemptWhereThatIsAskedFor) {
  Arrives(0, 'x', 'a');
  Arrives(50, 'y', 'b');
  EXPECT_EQ(Prune({.keep_age = absl::Hours(24 * 30), .also_only_attempts = true}, 60), "x");
  for (const char* table : {"runs", "kernels", "ir_graphs", "ir_edges", "attempts"}) {
    EXPECT_EQ(Count(table), "1") << table;
  }
  EXPECT_THAT(CheckDataset(path_)->damage, IsEmpty());
}

TEST_F(PruneTest, BySizeTheFirstToArriveGoFirstUntilItFits) {
  for (int i = 0; i < 8; ++i) Arrives(i, static_cast<char>('p' + i), 'a', 3000);
  const int64_t bytes = PruneClosed({.dry_run = true})->bytes_before;
  const absl::StatusOr<PruneReport> report = PruneClosed({.rules = {.keep_bytes = bytes / 2}});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_LE(report->bytes_after, bytes / 2);
  EXPECT_THAT(Letters(report->attempts), testing::StartsWith("pqr"));
  EXPECT_LT(report->attempts.size(), 8u);
  EXPECT_EQ(Prune({.keep_bytes = 0}, 9), "pqrstuv") << "the newest stays";
  EXPECT_EQ(Prune({}, 9), "");
}

TEST_F(PruneTest, ADryRunBySizeNamesAboutAsMany) {
  for (int i = 0; i < 8; ++i) Arrives(i, static_cast<char>('p' + i), 'a', 3000);
  const int64_t bytes = PruneClosed({.dry_run = true})->bytes_before;
  const std::string planned = Prune({.keep_bytes = bytes / 2}, 9, /*dry_run=*/true);
  const std::string removed = Prune({.keep_bytes = bytes / 2}, 9);
  EXPECT_NEAR(static_cast<double>(planned.size()), static_cast<double>(removed.size()), 1);
}

TEST_F(PruneTest, TheCacheCostsNoAttemptItsSpace) {
  for (int i = 0; i < 4; ++i) Arrives(i, static_cast<char>('p' + i), 'a', 3000);
  const int64_t bytes = PruneClosed({.dry_run = true})->bytes_before;
  std::vector<CachePut> puts(4, CachePut{.sender = "token a", .entry = {}});
  for (size_t i = 0; i < puts.size(); ++i) {
    puts[i].entry.set_key(std::to_string(i));
    puts[i].entry.set_value(std::string(1 << 20, 'v'));
  }
  ASSERT_TRUE(story_.writer().PutCacheEntries(puts, {}).ok());
  EXPECT_EQ(Prune({.keep_bytes = bytes + (256 << 10)}, 9, /*dry_run=*/true), "");
  EXPECT_EQ(Prune({.keep_bytes = bytes + (256 << 10)}, 9), "");
  EXPECT_EQ(Count("cache_entries"), "4");
}

// The attempt's producer may still send rows, which would be refused without the attempt. Sidecars do not record
// whether their attempt has ended.
TEST_F(PruneTest, WhatIsStillArrivingStays) {
  story_.Send({RunRecord('a'), AttemptRecord('x', 'a'), Row('x', 1, 1)});
  story_.Send({Ended(AttemptRecord('y', 'a'))});
  const PruneRules rules = {.keep_bytes = 0};
  EXPECT_EQ(Prune(rules, 6), "");
  EXPECT_EQ(PruneByClock(rules, 6), "");
  EXPECT_EQ(PruneByClock(rules, 8), "x") << "the attempt counts as abandoned";
  EXPECT_EQ(Prune(rules, 8), "x");
}

TEST_F(PruneTest, AgesAreThoseThatWereServed) {
  Arrives(0, 'x', 'a');
  Arrives(1, 'y', 'a');
  const PruneRules rules = {.keep_age = absl::Hours(24 * 30)};
  day_ = 100;  // no collector served the dataset in the meantime
  EXPECT_EQ(Prune(rules, 100), "");
  EXPECT_EQ(Prune(rules, 128), "");
  EXPECT_EQ(Prune(rules, 131), "x");
}

TEST_F(PruneTest, NoClockMakesAnythingOlder) {
  for (const int error_days : {-3653, -1, 1, 3653}) {
    SCOPED_TRACE(error_days);
    clock_error_ = absl::Hours(24 * error_days);
    Arrives(day_, static_cast<char>('p' + day_), 'a');
    // Start times from the producers' clocks have no influence either.
    v1::Record ahead = Ended(AttemptRecord(static_cast<char>('P' + day_), 'a'));
    ahead.mutable_attempt()->set_started_unix_us(absl::ToUnixMicros(Day(9999)));
    story_.Send({ahead});
    EXPECT_EQ(Prune({.keep_age = absl::Hours(24 * 30)}, day_ + 1), "");
  }
}

// The newest attempt arrived under the wrong clock, so it cannot reveal that the clock is wrong.
TEST_F(PruneTest, AWrongClockUnderWhichSomethingArrivedRemovesNothing) {
  Arrives(0, 'x', 'a');
  Arrives(1, 'y', 'a');
  clock_error_ = absl::Hours(24 * 3653);
  Arrives(1, 'z', 'a');
  EXPECT_EQ(Prune({.keep_age = absl::Hours(24 * 30)}, 1), "");
}

TEST_F(PruneTest, AClockIsTrustedWhereThatIsAskedForUnlessItCannotBeRight) {
  Arrives(0, 'x', 'a');
  Arrives(1, 'y', 'a');
  const PruneRules rules = {.keep_age = absl::Hours(12)};
  EXPECT_EQ(PruneByClock(rules, 1), "x");
  for (const int day : {3653, -3653, -1}) {
    EXPECT_THAT(PruneByClock(rules, day), HasSubstr("FAILED_PRECONDITION")) << day;
  }
  EXPECT_THAT(PruneByClock(rules, 3653), HasSubstr("all are too old"));
  EXPECT_THAT(PruneByClock(rules, -3653), HasSubstr("in the future"));
}

TEST_F(PruneTest, OldRejectsGoButNotTheNewest) {
  story_.Send({Row('q', 1, 1), Row('q', 2, 1), Row('q', 3, 1)});  // rows of an attempt that was never announced
  ServeUntil(60);
  const absl::StatusOr<PruneReport> report = PruneClosed({.rules = {.keep_age = absl::Hours(24 * 30)}});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->rejects, 2);
  EXPECT_THAT(report->attempts, IsEmpty());
}

// Sends unreadable records of `bytes` bytes each, under a sender's name.
void SendRejects(StoreWriter& writer, char producer, const std::string& sender, int count, size_t bytes) {
  const std::string id(16, producer);
  const auto opened = writer.OpenProducers({{.producer_id = id, .epoch = 1, .client = "test", .sender = sender}});
  ASSERT_TRUE(opened.ok() && opened->front().status.ok()) << opened.status();
  std::vector<v1::Record> records(static_cast<size_t>(count));
  ProducerBatch batch = {.producer_id = id, .epoch = 1, .first_seq = 1};
  for (int i = 0; i < count; ++i) {
    v1::Reject* const reject = records[static_cast<size_t>(i)].mutable_reject();
    reject->set_reason(v1::Reject::REASON_UNREADABLE);
    reject->set_raw(std::string(bytes, producer) + std::to_string(i));
    batch.records.push_back({&records[static_cast<size_t>(i)]});
  }
  const auto outcomes = writer.CommitBatches({batch});
  ASSERT_TRUE(outcomes.ok() && outcomes->front().status.ok()) << outcomes.status();
}

TEST_F(PruneTest, RejectsCostNoAttemptItsPlace) {
  for (int i = 0; i < 8; ++i) Arrives(i, static_cast<char>('p' + i), 'a', 1000);
  const int64_t before = PruneClosed({.dry_run = true})->bytes_before;
  SendRejects(story_.writer(), 'q', "ci", 10, 1 << 20);
  const PruneRules rules = {.keep_bytes = before + before / 4};
  EXPECT_EQ(Prune(rules, 9, /*dry_run=*/true), "");
  EXPECT_EQ(Prune(rules, 9), "");
  EXPECT_EQ(Count("attempts"), "8");
  EXPECT_EQ(Count("rejects"), "10");
}

TEST_F(PruneTest, EachSendersOldestRejectsGoBeyondItsBudget) {
  constexpr int kLarge = 30'000;
  SendRejects(story_.writer(), 'q', "flood", 250, kLarge);
  SendRejects(story_.writer(), 'r', "quiet", 2, kLarge);
  SendRejects(story_.writer(), 's', "", 5, kLarge);
  Arrives(1, 'x', 'a');
  const absl::StatusOr<PruneReport> report = PruneClosed({.rules = {.keep_rejects_bytes = 4 * (kLarge + 8192)}});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->rejects, 246 + 1);
  EXPECT_THAT(report->attempts, IsEmpty());
  EXPECT_EQ(Count("rejects WHERE producer_id = CAST('qqqqqqqqqqqqqqqq' AS BLOB) AND reject BETWEEN 247 AND 250"), "4");
  EXPECT_EQ(Count("rejects WHERE producer_id = CAST('rrrrrrrrrrrrrrrr' AS BLOB)"), "2");
  EXPECT_EQ(Count("rejects"), "10");
}

TEST_F(PruneTest, ServedDatasetsAreLeftAlone) {
  Arrives(0, 'x', 'a');
  EXPECT_EQ(PruneDataset(story_.path(), {.rules = {.keep_bytes = 0}}).status().code(),
            absl::StatusCode::kAlreadyExists);
  EXPECT_TRUE(PruneDataset(story_.path(), {.rules = {.keep_bytes = 0}, .dry_run = true}).ok());
}

}  // namespace
}  // namespace telemetry::storage::upkeep
