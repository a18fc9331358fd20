#include "server/storage/any/any_store.h"

#include <gtest/gtest.h>

namespace telemetry::storage::any {
namespace {

TEST(AnyStore, AUrlIsToldFromAPath) {
  EXPECT_TRUE(IsPostgresqlUrl("postgresql://host/dataset"));
  EXPECT_TRUE(IsPostgresqlUrl("postgres://"));
  EXPECT_FALSE(IsPostgresqlUrl("telemetry.db"));
  EXPECT_FALSE(IsPostgresqlUrl("./postgresql://host"));
}

TEST(AnyStore, PasswordsAreNotShown) {
  EXPECT_EQ(WithoutPasswords("postgresql://me:secret@host:5432/db"), "postgresql://me:***@host:5432/db");
  EXPECT_EQ(WithoutPasswords("postgresql://me:a@b:c@host/db"), "postgresql://me:***@host/db");
  EXPECT_EQ(WithoutPasswords("postgresql://host:5432/db?user=me&password=secret&sslmode=require"),
            "postgresql://host:5432/db?user=me&password=***&sslmode=require");
  EXPECT_EQ(WithoutPasswords("postgresql:///db?sslpassword=x"), "postgresql:///db?sslpassword=***");
  EXPECT_EQ(WithoutPasswords("postgresql://me@host/db"), "postgresql://me@host/db");
  EXPECT_EQ(WithoutPasswords("folder:of@mine/telemetry.db"), "folder:of@mine/telemetry.db");
}

}  // namespace
}  // namespace telemetry::storage::any
