// Tests the cost models while several collectors store them, and beside collectors that do not know them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "server/storage/postgresql/pg_database.h"
#include "server/storage/postgresql/pg_migrator.h"
#include "server/storage/postgresql/postgresql_store.h"
#include "tests/server/storage/model_files.h"
#include "tests/server/storage/test_dataset.h"

namespace telemetry::storage::postgresql {
namespace {

TEST(ModelsBesideWritersTest, BudgetsHoldWhenManyStoreAtOnce) {
  const std::unique_ptr<TestDataset> dataset = NewPostgresqlDataset();
  ASSERT_TRUE(OpenPostgresqlWriter(dataset->db()).ok());
  constexpr ModelBudget kBudget = {.total_bytes = 1'000'000, .sender_bytes = 300'000, .versions = 4};
  std::vector<std::thread> threads;
  for (int writer = 0; writer < 4; ++writer) {
    threads.emplace_back([&dataset, &kBudget, writer] {
      const std::unique_ptr<StoreWriter> own = *OpenPostgresqlWriter(dataset->db(), {.patience = absl::Seconds(60)});
      for (int i = 0; i < 15; ++i) {
        // The senders overlap, and the writers of a sender store some equal models.
        const auto outcome =
            own->ChangeModels(ModelPut{.sender = absl::StrCat("token ", (writer + i) % 5),
                                       .request = ModelPart(ModelFile(absl::StrCat(i, std::string(50'000, 't'))))},
                              kBudget);
        EXPECT_TRUE(outcome.ok()) << outcome.status();
        EXPECT_TRUE(outcome->status.ok()) << outcome->status;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(dataset->Query("SELECT count(*) FROM (SELECT sender FROM models GROUP BY sender HAVING count(*) > 4 OR "
                           "sum(size_bytes + 16384) > 300000) AS wrong"),
            "0");
  EXPECT_EQ(dataset->Query("SELECT sum(size_bytes + 16384) <= 1000000 FROM models"), "t");
  EXPECT_EQ(dataset->Query("SELECT count(*) FROM models WHERE stored_order IS NULL"), "0");
  EXPECT_EQ(dataset->Query("SELECT count(DISTINCT stored_order) = count(*) AND count(DISTINCT (sender, sha256)) = "
                           "count(*) FROM models"),
            "t");
  EXPECT_EQ(dataset->Query("SELECT count(*) FROM model_parts"), dataset->Query("SELECT count(*) FROM models"));
}

TEST(ModelsBesideWritersTest, ACollectorWithoutModelsStartsOnTheMigratedSchema) {
  const std::unique_ptr<TestDataset> dataset = NewPostgresqlDataset();
  ASSERT_TRUE(OpenPostgresqlWriter(dataset->db()).ok());
  const std::unique_ptr<PgDatabase> database = *PgDatabase::Open(dataset->db());
  const absl::Span<const sql::Migration> known = EmbeddedPgMigrations().first(6);
  EXPECT_TRUE(MigratePg(*database, absl::Now(), known).ok());
  const absl::Status older = MigratePg(*database, absl::Now(), known.first(5));
  EXPECT_TRUE(absl::IsFailedPrecondition(older)) << older;
}

}  // namespace
}  // namespace telemetry::storage::postgresql
