#include "server/storage/sql/transaction.h"

#include <gtest/gtest.h>

#include "server/storage/sqlite/sqlite_database.h"
#include "tests/server/storage/dataset_story.h"

namespace telemetry::storage::sql {
namespace {

class TransactionTest : public ::testing::Test {
 protected:
  TransactionTest() : database_(*sqlite::SqliteDatabase::Open(folder_.File("t.db"), {})) {
    EXPECT_TRUE(database_.Execute("CREATE TABLE t (x)").ok());
  }

  int64_t Rows() { return *database_.QueryInt("SELECT count(*) FROM t"); }

  TempFolder folder_;
  sqlite::SqliteDatabase database_;
};

TEST_F(TransactionTest, RollsBackUnlessItIsCommitted) {
  {
    absl::StatusOr<Transaction> transaction = Transaction::BeginWrite(database_);
    ASSERT_TRUE(transaction.ok());
    ASSERT_TRUE(database_.Execute("INSERT INTO t VALUES (1)").ok());
    EXPECT_EQ(Rows(), 1);
  }
  EXPECT_EQ(Rows(), 0);
}

TEST_F(TransactionTest, StaysWhenItIsCommitted) {
  {
    absl::StatusOr<Transaction> transaction = Transaction::BeginWrite(database_);
    ASSERT_TRUE(transaction.ok());
    ASSERT_TRUE(database_.Execute("INSERT INTO t VALUES (1)").ok());
    ASSERT_TRUE(transaction->Commit().ok());
  }
  EXPECT_EQ(Rows(), 1);
}

}  // namespace
}  // namespace telemetry::storage::sql
