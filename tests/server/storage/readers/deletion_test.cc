// Tests the deletion of attempts by run, attempt and origin.

#include "server/storage/readers/deletion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/storage/tables/attempt_remover.h"
#include "tests/server/storage/dataset_story.h"

namespace telemetry::storage::readers {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

v1::DeleteRequest Runs(const std::vector<std::string>& run_ids) {
  v1::DeleteRequest request;
  for (const std::string& run_id : run_ids) request.add_run_ids(run_id);
  return request;
}

v1::DeleteRequest Attempts(const std::string& letters) {
  v1::DeleteRequest request;
  for (const char letter : letters) request.add_attempt_ids(AttemptId(letter));
  return request;
}

v1::DeleteRequest Origin(const std::string& origin) {
  v1::DeleteRequest request;
  request.add_origins(origin);
  return request;
}

class DeletionTest : public ::testing::Test {
 protected:
  // Returns all records that a producer sends for an attempt with two rows.
  static std::vector<v1::Record> Whole(char attempt, char run, const std::string& origin = "ci/1") {
    v1::Record announced = AttemptRecord(attempt, run);
    announced.mutable_attempt()->set_origin(origin);
    std::vector<v1::Record> records = {RunRecord(run),         GraphRecord(run),      announced,
                                       Row(attempt, 1, 0.5),   Row(attempt, 2, 0.25), DetailRecord(attempt, 1),
                                       EventRecord(attempt, 1)};
    records.push_back(RunConfigRecord(run, 7));
    records.emplace_back().mutable_source_hash()->set_attempt_id(AttemptId(attempt));
    records.back().mutable_source_hash()->set_seq(1);
    records.back().mutable_source_hash()->set_source_hash("00ff");
    return records;
  }

  void Arrives(char attempt, char run, const std::string& origin = "ci/1") {
    ASSERT_THAT(story_.Send(Whole(attempt, run, origin)).refused, IsEmpty());
  }

  // Returns the letters of the deleted attempts, or the error.
  std::string Delete(const v1::DeleteRequest& request) {
    const std::unique_ptr<StoreReader> reader = story_.OpenReader();
    absl::StatusOr<Deletion> deletion = reader->BeginDeletion(request);
    if (!deletion.ok()) return deletion.status().ToString();
    through_ = deletion->through();
    std::string letters;
    steps_ = 0;
    runs_ = 0;
    rows_ = 0;
    while (!deletion->done()) {
      const absl::StatusOr<Removal> removal = reader->Next(*deletion);
      if (!removal.ok()) return removal.status().ToString();
      v1::DeleteStep step;
      if (request.dry_run()) {
        step.mutable_attempts()->Add(removal->attempts.begin(), removal->attempts.end());
      } else {
        const absl::StatusOr<v1::DeleteStep> removed = story_.writer().RemoveAttempts(*removal);
        if (!removed.ok()) return removed.status().ToString();
        step = *removed;
      }
      ++steps_;
      runs_ += step.runs();
      for (const v1::DeletedAttempt& attempt : step.attempts()) {
        letters += attempt.attempt_id().front();
        rows_ += attempt.rows();
      }
    }
    return letters;
  }

  std::string Plan(v1::DeleteRequest request) {
    request.set_dry_run(true);
    return Delete(request);
  }

  std::string Count(const std::string& table) { return story_.Query("SELECT count(*) FROM " + table); }

  DatasetStory story_;
  int64_t through_ = 0;
  int steps_ = 0;
  uint64_t runs_ = 0;
  uint64_t rows_ = 0;
};

TEST_F(DeletionTest, AnAttemptGoesWithItsRowsAndOthersStay) {
  Arrives('x', 'a');
  Arrives('y', 'b');
  const std::string before = story_.Export();
  Arrives('z', 'a');
  EXPECT_EQ(Delete(Attempts("z")), "z");
  EXPECT_EQ(rows_, 2u);
  EXPECT_EQ(runs_, 0u);
  EXPECT_EQ(story_.Export(), before);
}

TEST_F(DeletionTest, ARunGoesWithItsAttemptsAndAllThatBelongsToIt) {
  Arrives('x', 'a');
  Arrives('y', 'a', "ci/2");
  EXPECT_EQ(Delete(Runs({RunId('a')})), "xy");
  EXPECT_EQ(rows_, 4u);
  EXPECT_EQ(runs_, 1u);
  for (const char* table : {"runs", "kernels", "attempts", "measurements", "measurement_details", "attempt_events",
                            "source_hashes", "ir_graphs", "ir_nodes", "ir_edges", "run_configs", "run_settings"}) {
    EXPECT_EQ(Count(table), "0") << table;
  }
}

TEST_F(DeletionTest, ARunGoesWithItsLastAttempt) {
  Arrives('x', 'a');
  Arrives('y', 'a');
  Arrives('z', 'b');
  EXPECT_EQ(Delete(Attempts("x")), "x");
  EXPECT_EQ(Count("runs"), "2");
  EXPECT_EQ(Delete(Attempts("y")), "y");
  EXPECT_EQ(runs_, 1u);
  EXPECT_EQ(Count("runs"), "1");
  EXPECT_EQ(Count("ir_graphs"), "1");
  EXPECT_EQ(Count("kernels"), "1") << "another run uses the kernel, too";
}

TEST_F(DeletionTest, AnOriginGoesWithTheAttemptsOfAllItsRuns) {
  Arrives('x', 'a', "ci/1");
  Arrives('y', 'b', "ci/1");
  Arrives('z', 'b', "ci/2");
  EXPECT_EQ(Delete(Origin("ci/1")), "xy");
  EXPECT_EQ(runs_, 1u);
  EXPECT_EQ(story_.Query("SELECT origin FROM attempts"), "ci/2");
}

TEST_F(DeletionTest, WhatAnyNameNamesGoesOnce) {
  Arrives('w', 'a', "ci/1");
  Arrives('x', 'a', "ci/2");
  Arrives('y', 'b', "ci/1");
  Arrives('z', 'b', "ci/2");
  v1::DeleteRequest request = Runs({"aaaa", RunId('a')});
  request.add_attempt_ids(AttemptId('x'));
  request.add_attempt_ids(AttemptId('y'));
  request.add_origins("ci/1");
  EXPECT_EQ(Plan(request), "wxy");
  EXPECT_EQ(Count("attempts"), "4");
  EXPECT_EQ(Delete(request), "wxy");
  EXPECT_EQ(story_.Query("SELECT count(*) FROM attempts"), "1");
}

TEST_F(DeletionTest, ARunWithoutAttemptsGoesWithItsDescription) {
  story_.Send({RunRecord('a'), GraphRecord('a'), RunRecord('b')});
  EXPECT_EQ(Delete(Runs({"aaaa"})), "");
  EXPECT_EQ(runs_, 1u);
  EXPECT_EQ(story_.Query("SELECT run_id FROM runs"), RunId('b'));
  EXPECT_EQ(Count("ir_nodes"), "0");
}

TEST_F(DeletionTest, ANameOfNothingDeletesNothingAndIsCorrected) {
  Arrives('x', 'a', "ci/1234");
  const std::string close = RunId('a').substr(0, 63) + "b";
  v1::DeleteRequest request = Attempts("x");
  request.add_run_ids(close);
  EXPECT_THAT(Delete(request), AllOf(HasSubstr("NOT_FOUND"), HasSubstr("did you mean " + RunId('a'))));
  EXPECT_THAT(Delete(Runs({"aaba"})), HasSubstr("no run_id begins with aaba: nothing is deleted; did you mean aaaa?"));
  EXPECT_THAT(Delete(Runs({"0000"})), AllOf(HasSubstr("NOT_FOUND"), Not(HasSubstr("did you mean"))));
  EXPECT_THAT(Delete(Origin("ci/1243")), HasSubstr("did you mean ci/1234?"));
  v1::DeleteRequest attempt;
  attempt.add_attempt_ids(AttemptId('x').substr(0, 15) + "y");
  EXPECT_THAT(Delete(attempt), HasSubstr("did you mean 78787878787878787878787878787878?"));
  EXPECT_EQ(Count("attempts"), "1");
}

TEST_F(DeletionTest, APrefixNamesOneRun) {
  Arrives('x', 'a');
  v1::Record other = RunRecord('a');
  other.mutable_run()->set_run_id(RunId('a').substr(0, 60) + "0000");
  story_.Send({other});
  EXPECT_THAT(Delete(Runs({"aaaaaa"})), AllOf(HasSubstr("FAILED_PRECONDITION"), HasSubstr(other.run().run_id())));
  EXPECT_EQ(Plan(Runs({RunId('a').substr(0, 61)})), "x");
}

TEST_F(DeletionTest, ARequestThatNamesNothingOrTooMuchOrNoIdIsRefused) {
  v1::DeleteRequest many;
  for (int i = 0; i <= Deletion::kMostNames; ++i) many.add_origins("ci/1");
  v1::DeleteRequest short_id;
  short_id.add_attempt_ids("x");
  for (const v1::DeleteRequest& request : {v1::DeleteRequest(), many, short_id, Origin(""), Runs({""}), Runs({"abc"}),
                                           Runs({"ABCD"}), Runs({RunId('a') + "a"})}) {
    EXPECT_THAT(Delete(request), HasSubstr("INVALID_ARGUMENT")) << request.ShortDebugString().substr(0, 200);
  }
}

TEST_F(DeletionTest, WhatArrivesAfterTheDryRunStays) {
  Arrives('x', 'a');
  v1::DeleteRequest request = Origin("ci/1");
  EXPECT_EQ(Plan(request), "x");
  request.set_through(through_);
  Arrives('y', 'a');
  EXPECT_EQ(Delete(request), "x");
  EXPECT_EQ(story_.Query("SELECT count(*) FROM attempts"), "1");
}

TEST_F(DeletionTest, ManyAttemptsTakeSeveralTransactions) {
  constexpr int kAttempts = 2 * tables::AttemptRemover::kAttemptsAtOnce + 50;
  std::vector<v1::Record> records = {RunRecord('a')};
  for (int i = 0; i < kAttempts; ++i) {
    std::string id = absl::StrCat("x ", i);
    id.resize(16, '.');
    v1::Record& attempt = records.emplace_back(AttemptRecord('x', 'a'));
    attempt.mutable_attempt()->set_attempt_id(id);
    attempt.mutable_attempt()->set_origin("ci/1");
    records.emplace_back(Row('x', 1, 0.5)).mutable_measurement()->set_attempt_id(id);
  }
  ASSERT_THAT(story_.Send(records).refused, IsEmpty());
  Arrives('y', 'b', "ci/2");
  EXPECT_EQ(Delete(Origin("ci/1")), std::string(kAttempts, 'x'));
  EXPECT_GE(steps_, 3);
  EXPECT_EQ(rows_, static_cast<uint64_t>(kAttempts));
  EXPECT_EQ(Count("runs"), "1");
  EXPECT_EQ(Count("measurements"), "2");
}

TEST_F(DeletionTest, ATransactionEndsWithTheAttemptThatHasManyRows) {
  for (const char attempt : {'x', 'y', 'z'}) {
    std::vector<v1::Record> records = Whole(attempt, 'a');
    for (uint64_t seq = 3; seq <= tables::AttemptRemover::kRowsAtOnce; ++seq) records.push_back(Row(attempt, seq, 0.5));
    ASSERT_THAT(story_.Send(records).refused, IsEmpty());
  }
  EXPECT_EQ(Delete(Runs({"aaaa"})), "xyz");
  EXPECT_GE(steps_, 3);
}

TEST_F(DeletionTest, RowsThatArriveLaterAreRefusedUntilTheAttemptIsSentAgain) {
  Arrives('x', 'a');
  Arrives('y', 'b');
  const std::string before = story_.Export();
  const std::string committed = story_.Query("SELECT committed_seq FROM producers");
  EXPECT_EQ(Delete(Attempts("x")), "x");
  EXPECT_EQ(story_.Query("SELECT committed_seq FROM producers"), committed);
  const BatchOutcome late = story_.Send({Row('x', 3, 0.5), Row('y', 3, 0.5)});
  ASSERT_EQ(late.refused.size(), 1u);
  EXPECT_EQ(late.refused.front().reason, v1::Reject::REASON_UNKNOWN_REFERENCE);
  EXPECT_EQ(Count("rejects"), "1");
  EXPECT_EQ(Count("measurements"), "3") << "the row of the other attempt is stored";
  EXPECT_EQ(Delete(Attempts("y")), "y");
  EXPECT_EQ(Count("rejects"), "1") << "rejects stay";
  Arrives('x', 'a');
  Arrives('y', 'b');
  EXPECT_EQ(story_.Export(), before);
}

TEST_F(DeletionTest, ARunGoesWhoeverSentIt) {
  Arrives('x', 'a');
  const std::string other(16, 'o');
  ASSERT_TRUE(
      story_.writer().OpenProducers({{.producer_id = other, .epoch = 1, .client = "test", .sender = "b"}}).ok());
  ProducerBatch batch = {.producer_id = other, .epoch = 1, .first_seq = 1};
  const std::vector<v1::Record> described = {RunRecord('a')};
  AddRecords(described, &batch);
  ASSERT_TRUE(story_.writer().CommitBatches({batch}).ok());
  EXPECT_EQ(Count("runs"), "2");
  EXPECT_EQ(Delete(Runs({"aaaa"})), "x");
  EXPECT_EQ(Count("runs"), "0");
}

TEST_F(DeletionTest, AnAttemptThatHasGoneMeanwhileIsNotCounted) {
  Arrives('x', 'a');
  const std::unique_ptr<StoreReader> reader = story_.OpenReader();
  absl::StatusOr<Deletion> deletion = reader->BeginDeletion(Attempts("x"));
  ASSERT_TRUE(deletion.ok());
  const absl::StatusOr<Removal> removal = reader->Next(*deletion);
  ASSERT_TRUE(removal.ok());
  EXPECT_EQ(Delete(Runs({"aaaa"})), "x");
  const absl::StatusOr<v1::DeleteStep> step = story_.writer().RemoveAttempts(*removal);
  ASSERT_TRUE(step.ok()) << step.status();
  EXPECT_EQ(step->attempts_size(), 0);
}

}  // namespace
}  // namespace telemetry::storage::readers
