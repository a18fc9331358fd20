// Tests the check of a dataset on a PostgreSQL server.

#include "server/storage/upkeep/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "server/storage/any/any_upkeep.h"
#include "tests/server/storage/dataset_story.h"

namespace telemetry::storage::upkeep {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;

class PgCheckTest : public ::testing::Test {
 protected:
  PgCheckTest() {
    story_.Send({RunRecord('a'), GraphRecord('a'), AttemptRecord('x', 'a'), ConfigRecord(7, "Config(warps=4)"),
                 Row('x', 1, 1), Row('x', 2, 1), DetailRecord('x', 1), EventRecord('x', 1)});
  }

  CheckReport Check() {
    const absl::StatusOr<CheckReport> report = any::CheckDataset(story_.path());
    EXPECT_TRUE(report.ok()) << report.status();
    return report.value_or(CheckReport());
  }

  DatasetStory story_;
};

TEST_F(PgCheckTest, ASoundDatasetIsCountedBesideItsWriter) {
  const CheckReport report = Check();
  EXPECT_THAT(report.damage, IsEmpty());
  EXPECT_THAT(report.counts, Contains(Pair("measurements", 2)));
  EXPECT_THAT(report.notes, Not(Contains(HasSubstr("gaps"))));
  EXPECT_TRUE(ReportStatus(report).ok());
}

TEST_F(PgCheckTest, OrphansAreDamage) {
  story_.Query("DELETE FROM attempts");
  const CheckReport report = Check();
  EXPECT_THAT(report.damage,
              ElementsAre("2 rows of measurements reference a row of attempts that does not exist",
                          "1 rows of measurement_details reference a row of attempts that does not exist",
                          "1 rows of attempt_events reference a row of attempts that does not exist"));
  EXPECT_TRUE(absl::IsDataLoss(ReportStatus(report)));
  EXPECT_THAT(std::string(ReportStatus(report).message()), Not(HasSubstr("--reseal")));
}

TEST_F(PgCheckTest, PartsOfGraphsAndRunConfigsWithoutTheirRowAreDamage) {
  story_.Query("DELETE FROM ir_graphs");
  EXPECT_THAT(Check().damage, ElementsAre(HasSubstr("2 rows of ir_nodes"), HasSubstr("1 rows of ir_edges")));
  story_.Query("DELETE FROM configs");
  EXPECT_THAT(Check().damage, Contains(HasSubstr("2 rows of measurements reference a row of configs")));
}

TEST_F(PgCheckTest, ASequenceBehindItsTableIsDamage) {
  story_.Query("SELECT setval('attempts_attempt_seq', 1, false)");
  EXPECT_THAT(Check().damage, ElementsAre(HasSubstr("attempts_attempt_seq is 1 behind the largest key of attempts")));
}

TEST_F(PgCheckTest, GapsAreNoted) {
  story_.Send({Row('x', 5, 1)});
  const CheckReport report = Check();
  EXPECT_THAT(report.damage, IsEmpty());
  EXPECT_THAT(report.notes, Contains(HasSubstr("1 attempts have gaps")));
}

}  // namespace
}  // namespace telemetry::storage::upkeep
