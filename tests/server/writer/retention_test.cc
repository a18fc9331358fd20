// Tests the retention of serve: it removes data by served time, regardless of any clock, and never the only attempt of
// a run.

#include "server/writer/retention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "server/storage/upkeep/check.h"
#include "tests/server/collector/collector_story.h"
#include "tests/server/storage/dataset_story.h"

namespace telemetry::collector {
namespace {

using storage::AttemptRecord;
using storage::DatasetStory;
using storage::Row;
using storage::RunRecord;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr absl::Duration kDay = absl::Hours(24);
const absl::Time kStart = absl::FromUnixSeconds(1'700'000'000);

std::vector<v1::Record> EndedAttempt(char attempt, char run, int rows, absl::Time started = kStart) {
  std::vector<v1::Record> records = {RunRecord(run), AttemptRecord(attempt, run)};
  records[1].mutable_attempt()->set_state(v1::Attempt::STATE_COMPLETE);
  records[1].mutable_attempt()->set_started_unix_us(absl::ToUnixMicros(started));
  for (int i = 1; i <= rows; ++i) records.push_back(Row(attempt, static_cast<uint64_t>(i), 0.5 * i));
  return records;
}

// A dataset served on a machine whose time the test controls and whose clock may be wrong.
class ServedDataset {
 public:
  explicit ServedDataset(storage::PruneRules rules, absl::Duration clock_error = absl::ZeroDuration())
      : rules_(rules), clock_error_(clock_error), story_({.clock = [this] { return WallClock(); }}) {
    Serve();
  }

  void SetClock(absl::Duration error) { clock_error_ = error; }
  void SetClientClock(absl::Duration error) { client_clock_error_ = error; }

  void Arrives(char attempt, char run, int rows = 2) {
    const absl::Time client_clock = kStart + passed_ + client_clock_error_;
    batches_.push_back(EndedAttempt(attempt, run, rows, client_clock));
    EXPECT_THAT(story_.Send(batches_.back()).refused, IsEmpty());
  }

  // Resends everything, as a client that missed the Acks, and as another client that forwards the same files.
  void EverythingArrivesAgain() {
    uint64_t seq = 1;
    for (const std::vector<v1::Record>& batch : batches_) {
      EXPECT_EQ(story_.SendAt(seq, batch).skipped, batch.size());
      seq += batch.size();
    }
    EXPECT_THAT(story_.Send(batches_.back()).refused, IsEmpty());
    batches_.push_back(batches_.back());
  }

  void Pass(absl::Duration time) {
    for (; time > absl::ZeroDuration(); time -= kDay) {
      passed_ += std::min(time, kDay);
      DoWhatIsDue();
    }
  }

  void DoWhatIsDue() {
    while (retention_->Patience(/*busy=*/false) <= absl::ZeroDuration()) {
      const absl::Status status = retention_->Step(story_.writer());
      ASSERT_TRUE(status.ok()) << status;
    }
  }

  // Executes one step of a pass, as the writer does between two transactions.
  void DoAStep() { ASSERT_TRUE(retention_->Step(story_.writer()).ok()); }

  // Restarts the collector in order, or as after a kill, which records no time at the end.
  void Restart(bool killed = false) {
    if (!killed) {
      EXPECT_TRUE(retention_->End(story_.writer()).ok());
    }
    story_.Restart();
    Serve();
  }

  // Returns the first letters of the attempts' ids in the order of arrival.
  std::string Attempts() const {
    return story_.Query(
        "SELECT ifnull(group_concat(substr(CAST(attempt_id AS TEXT), 1, 1), ''), '') "
        "FROM (SELECT attempt_id FROM attempts ORDER BY attempt)");
  }
  std::string Rows() const { return story_.Query("SELECT count(*) FROM measurements"); }
  int64_t FilePages() const { return std::stoll(story_.Query("PRAGMA page_count")); }
  int64_t UsedBytes() const { return (FilePages() - std::stoll(story_.Query("PRAGMA freelist_count"))) * 4096; }
  DatasetStory& story() { return story_; }
  writer::Retention& retention() { return *retention_; }

 private:
  absl::Time WallClock() const { return kStart + passed_ + clock_error_; }
  void Serve() {
    retention_.emplace(writer::RetentionOptions{.rules = rules_, .interval = absl::Hours(12), .steady_clock = [this] {
                                                  return SteadyTime(
                                                      absl::ToChronoNanoseconds(absl::Hours(1) + passed_));
                                                }});
  }

  const storage::PruneRules rules_;
  absl::Duration clock_error_;
  absl::Duration client_clock_error_;
  absl::Duration passed_;
  std::vector<std::vector<v1::Record>> batches_;
  DatasetStory story_;
  std::optional<writer::Retention> retention_;
};

const storage::PruneRules kKeepThirtyDays = {.keep_age = 30 * kDay};

TEST(Retention, RemovesWhatIsTooOldButNeverARunsOnlyAttempt) {
  ServedDataset dataset(kKeepThirtyDays);
  dataset.Arrives('x', 'a');
  dataset.Arrives('o', 'b');
  dataset.Pass(20 * kDay);
  dataset.Arrives('y', 'a');
  dataset.Pass(10 * kDay);
  EXPECT_EQ(dataset.Attempts(), "xoy");
  dataset.Pass(2 * kDay);
  EXPECT_EQ(dataset.Attempts(), "oy");
  dataset.Pass(400 * kDay);
  EXPECT_EQ(dataset.Attempts(), "oy");
  EXPECT_EQ(dataset.Rows(), "4");
  EXPECT_THAT(storage::upkeep::CheckDataset(dataset.story().path())->damage, IsEmpty());
  const writer::Retention::State state = dataset.retention().state();
  EXPECT_EQ(state.attempts_removed, 1u);
  EXPECT_EQ(state.served, 432 * kDay);
  EXPECT_EQ(state.last_pass, absl::ZeroDuration());
}

TEST(Retention, KeepsEverythingWithoutARuleAndCountsTheTime) {
  ServedDataset dataset({});
  dataset.Arrives('x', 'a');
  dataset.Arrives('y', 'a');
  dataset.Pass(1000 * kDay);
  EXPECT_EQ(dataset.Attempts(), "xy");
  EXPECT_EQ(dataset.retention().state().served, 1000 * kDay);
  EXPECT_EQ(dataset.retention().state().last_pass, std::nullopt);
}

TEST(Retention, ARestartTakesNothingFromTheTime) {
  ServedDataset dataset(kKeepThirtyDays);
  dataset.Arrives('x', 'a');
  dataset.Arrives('y', 'a');
  for (int i = 0; i < 30; ++i) {
    dataset.Pass(kDay);
    dataset.Restart();
  }
  EXPECT_EQ(dataset.Attempts(), "xy");
  dataset.Pass(kDay);
  EXPECT_EQ(dataset.Attempts(), "y");
}

// ---- Clocks --------------------------------------------------------------------------------------------------------

enum class Set { kNever, kBeforeTheDataset, kBetweenRuns, kWhileServing, kAtTheClient, kAndSetRightAgain };

// Returns the content of the dataset day by day, attempts in order and rows, with a clock that is set at some moment.
std::vector<std::string> Days(Set when, absl::Duration error) {
  ServedDataset dataset(kKeepThirtyDays, when == Set::kBeforeTheDataset ? error : absl::ZeroDuration());
  std::vector<std::string> days;
  const auto pass = [&dataset, &days](int count) {
    for (int i = 0; i < count; ++i) {
      dataset.Pass(kDay);
      days.push_back(dataset.Attempts() + " " + dataset.Rows());
    }
  };
  if (when == Set::kAtTheClient) dataset.SetClientClock(error);
  dataset.Arrives('x', 'a');
  pass(5);
  dataset.Arrives('y', 'a');
  if (when == Set::kWhileServing || when == Set::kAndSetRightAgain) dataset.SetClock(error);
  // This attempt arrives while the clock may be wrong, so its arrival time proves nothing.
  dataset.Arrives('z', 'a');
  pass(5);
  if (when == Set::kBetweenRuns) dataset.SetClock(error);
  dataset.Restart();
  dataset.Arrives('u', 'a');
  pass(5);
  if (when == Set::kBeforeTheDataset || when == Set::kAndSetRightAgain) dataset.SetClock(absl::ZeroDuration());
  dataset.Arrives('v', 'b');
  dataset.EverythingArrivesAgain();
  pass(40);
  return days;
}

TEST(Retention, NoClockChangesOrderDedupOrWhatIsKept) {
  const std::vector<std::string> right = Days(Set::kNever, absl::ZeroDuration());
  EXPECT_EQ(right.front(), "x 2");
  EXPECT_EQ(right.back(), "uv 4");
  for (const int error_days : {1, -1, 3653, -3653}) {
    for (const Set when :
         {Set::kBeforeTheDataset, Set::kBetweenRuns, Set::kWhileServing, Set::kAtTheClient, Set::kAndSetRightAgain}) {
      EXPECT_EQ(Days(when, error_days * kDay), right) << error_days << " days, case " << static_cast<int>(when);
    }
  }
}

// ---- Size ----------------------------------------------------------------------------------------------------------

TEST(Retention, BySizeTheFirstToArriveGoFirstAndTheirRoomIsUsedAgain) {
  constexpr int64_t kKeep = 2 << 20;
  ServedDataset dataset({.keep_bytes = kKeep});
  int64_t file_pages = 0;
  for (int i = 0; i < 40; ++i) {
    dataset.Arrives(static_cast<char>('A' + i), 'a', 10000);
    dataset.Pass(kDay);
    EXPECT_LE(dataset.UsedBytes(), kKeep) << i;
    if (i == 20) file_pages = dataset.FilePages();
  }
  EXPECT_GT(dataset.UsedBytes(), kKeep / 2) << "removes no more than necessary";
  EXPECT_THAT(dataset.Attempts(), ::testing::EndsWith("fgh"));
  EXPECT_LE(dataset.FilePages(), file_pages + file_pages / 10);
  EXPECT_GT(dataset.retention().state().bytes_removed, uint64_t{kKeep});
  EXPECT_THAT(storage::upkeep::CheckDataset(dataset.story().path())->damage, IsEmpty());
}

TEST(Retention, BySizeOnlyAttemptsStayWhateverThatTakes) {
  ServedDataset dataset({.keep_bytes = 0});
  for (const char run : {'a', 'b', 'c'}) dataset.Arrives(static_cast<char>(run + 10), run, 100);
  dataset.Pass(3 * kDay);
  EXPECT_EQ(dataset.Attempts(), "klm");
}

// ---- Beside others -------------------------------------------------------------------------------------------------

TEST(Retention, RowsOfARemovedAttemptFindNobody) {
  ServedDataset dataset(kKeepThirtyDays);
  dataset.Arrives('x', 'a');
  dataset.Arrives('y', 'a');
  dataset.Pass(32 * kDay);
  ASSERT_EQ(dataset.Attempts(), "y");
  const storage::BatchOutcome late = dataset.story().Send({Row('x', 3, 1)});
  ASSERT_EQ(late.refused.size(), 1u);
  EXPECT_EQ(late.refused[0].reason, v1::Reject::REASON_UNKNOWN_REFERENCE);
  EXPECT_THAT(storage::upkeep::CheckDataset(dataset.story().path())->damage, IsEmpty());
}

TEST(Retention, APassGoesInStepsBetweenWhichACollectorMayBeKilled) {
  ServedDataset dataset({.keep_bytes = 0});
  for (int i = 0; i < 12; ++i) dataset.Arrives(static_cast<char>('a' + i), 'a', 1000);
  std::string before = dataset.Attempts();
  dataset.DoAStep();  // counts the time
  for (int step = 0; step < 4; ++step) {
    dataset.DoAStep();
    const std::string left = dataset.Attempts();
    EXPECT_EQ(left, before.substr(2)) << "two attempts of 1000 rows are enough for a step";
    EXPECT_EQ(dataset.Rows(), std::to_string(1000 * left.size()));
    before = left;
    dataset.Restart(/*killed=*/true);
    EXPECT_THAT(storage::upkeep::CheckDataset(dataset.story().path())->damage, IsEmpty());
    dataset.DoAStep();
  }
  dataset.DoWhatIsDue();
  EXPECT_EQ(dataset.Attempts(), "l");
}

// An export holds no transaction open between two pages. If attempts are removed meanwhile, it contains each attempt
// completely or fails.
TEST(Retention, AnExportHasAttemptsWholeOrSaysThatItHasNot) {
  int whole = 0;
  int aborted = 0;
  for (int steps_from = 1; steps_from < 30; ++steps_from) {
    ServedDataset dataset({.keep_bytes = 0});
    for (int i = 0; i < 8; ++i) dataset.Arrives(static_cast<char>('a' + i), 'a', 1500);
    dataset.DoAStep();
    int items = 0;
    uint64_t attempts = 0;
    uint64_t rows = 0;
    const absl::Status status =
        (*storage::sqlite::OpenSqliteReader(dataset.story().path()))->Export({}, [&](const v1::ExportItem& item) {
          if (++items == steps_from) dataset.DoAStep();
          attempts += item.has_attempt() ? 1 : 0;
          rows += static_cast<uint64_t>(item.rows().measurements_size());
          return absl::OkStatus();
        });
    if (status.ok()) {
      EXPECT_EQ(rows, attempts * 1500) << steps_from;
      ++whole;
    } else {
      EXPECT_TRUE(absl::IsAborted(status)) << status;
      EXPECT_THAT(std::string(status.message()), HasSubstr("repeat the export"));
      ++aborted;
    }
  }
  EXPECT_GT(whole, 0);
  EXPECT_GT(aborted, 0);
}

TEST(Retention, WhereRecordsWaitItsStepsAreApart) {
  ServedDataset dataset({.keep_bytes = 0});
  for (int i = 0; i < 3; ++i) dataset.Arrives(static_cast<char>('a' + i), 'a', 2000);
  writer::Retention& retention = dataset.retention();
  EXPECT_EQ(retention.Patience(/*busy=*/true), absl::ZeroDuration());
  dataset.DoAStep();
  dataset.DoAStep();
  EXPECT_EQ(retention.Patience(/*busy=*/true), writer::RetentionOptions().pause);
  EXPECT_EQ(retention.Patience(/*busy=*/false), absl::ZeroDuration());
  dataset.DoWhatIsDue();
  EXPECT_EQ(retention.Patience(/*busy=*/false), absl::Hours(12));
}

// Returns records that cannot be parsed, each of `bytes` bytes, which are sent as one batch of a producer.
std::vector<v1::Record> Unreadable(char letter, int count, size_t bytes) {
  std::vector<v1::Record> records(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    v1::Reject* const reject = records[static_cast<size_t>(i)].mutable_reject();
    reject->set_reason(v1::Reject::REASON_UNREADABLE);
    reject->set_raw(std::string(bytes, letter) + std::to_string(i));
  }
  return records;
}

TEST(Retention, ManyRejectsAreLookedAtAtOnce) {
  ServedDataset dataset({.keep_rejects_bytes = 100'000});
  dataset.DoWhatIsDue();
  const auto send = [&](char letter, int count) {
    const storage::BatchOutcome outcome = dataset.story().Send(Unreadable(letter, count, 10'000));
    EXPECT_THAT(outcome.refused, IsEmpty());
    dataset.retention().AddRejects(outcome.reject_bytes);
  };
  const auto rejects = [&] { return dataset.story().Query("SELECT count(*) FROM rejects"); };
  send('a', 5);
  EXPECT_GT(dataset.retention().Patience(/*busy=*/true), absl::ZeroDuration());
  send('b', 30);
  EXPECT_EQ(dataset.retention().Patience(/*busy=*/true), absl::ZeroDuration());
  dataset.DoWhatIsDue();
  EXPECT_EQ(rejects(), "7");
  send('c', 5);
  EXPECT_GT(dataset.retention().Patience(/*busy=*/true), absl::ZeroDuration())
      << "rejects before the last pass do not count";
}

// ---- In a collector ------------------------------------------------------------------------------------------------

std::string Batches(TestStream& stream, int attempts, int rows) {
  uint64_t seq = 1;
  for (int i = 0; i < attempts; ++i) {
    const std::vector<v1::Record> records = EndedAttempt(static_cast<char>('A' + i), 'a', rows);
    stream.Send(MakeBatch(seq, records));
    seq += records.size();
    if (!stream.AwaitAck(seq - 1)) return "the stream ended";
  }
  return "";
}

TEST(Retention, WorksBetweenTheTransactionsOfACollectorAndIsSaid) {
  CollectorStory story(ServerOptions{
      .retention = {.rules = {.keep_bytes = 0}, .interval = absl::Milliseconds(1), .pause = absl::ZeroDuration()}});
  TestStream stream(story.channel());
  ASSERT_TRUE(stream.Open('p'));
  ASSERT_EQ(Batches(stream, 50, 1000), "");
  while (story.Query("SELECT count(*) FROM attempts") != "1") continue;
  EXPECT_EQ(story.Query("SELECT count(*) FROM measurements"), "1000");
  EXPECT_EQ(story.fatal_errors(), 0);
}

TEST(Retention, RejectsBeyondTheirBudgetGoLongBeforeTheNextPassOfACollector) {
  CollectorStory story(ServerOptions{.retention = {.rules = {.keep_rejects_bytes = 1 << 20}}});
  TestStream stream(story.channel());
  ASSERT_TRUE(stream.Open('p'));
  stream.Send(MakeBatch(1, Unreadable('x', 40, 100'000)));
  ASSERT_TRUE(stream.AwaitAck(40));
  const SteadyTime give_up = SteadyAfter(absl::Seconds(60));
  const auto bytes = [&] { return std::stoll(story.Query("SELECT sum(length(raw)) FROM rejects")); };
  while (bytes() > 1 << 20 && SteadyNow() < give_up) continue;
  EXPECT_LE(bytes(), 1 << 20);
  EXPECT_EQ(story.fatal_errors(), 0);
}

}  // namespace
}  // namespace telemetry::collector
