#include "tests/server/storage/test_dataset.h"

#include <gtest/gtest.h>
#include <libpq-fe.h>
#include <stdlib.h>

#include <random>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "server/storage/postgresql/connection.h"
#include "server/storage/postgresql/postgresql_store.h"
#include "server/storage/sql/statement.h"
#include "server/storage/sqlite/sqlite_database.h"
#include "tests/temp_folder.h"

namespace telemetry::storage {
namespace {

constexpr char kServer[] = "TELEMETRY_TEST_POSTGRESQL";

class SqliteDataset : public TestDataset {
 public:
  explicit SqliteDataset(const sqlite::WriterOptions& options) : path_(folder_.File("dataset.db")), options_(options) {}

  absl::StatusOr<std::unique_ptr<StoreWriter>> OpenWriter() override {
    return sqlite::OpenSqliteWriter(path_, options_);
  }
  absl::StatusOr<std::unique_ptr<StoreReader>> OpenReader() override { return sqlite::OpenSqliteReader(path_); }
  const std::string& db() const override { return path_; }

  std::string Query(const std::string& sql) override {
    absl::StatusOr<sqlite::SqliteDatabase> database = sqlite::SqliteDatabase::Open(path_, {.read_only = true});
    if (!database.ok()) return database.status().ToString();
    sql::Statement query(*database, sql.c_str());
    const absl::StatusOr<bool> row = query.Step();
    if (!row.ok()) return row.status().ToString();
    return *row ? std::string(query.Text(0)) : "(no row)";
  }

 private:
  const TempFolder folder_;
  const std::string path_;
  const sqlite::WriterOptions options_;
};

class PostgresqlDataset : public TestDataset {
 public:
  explicit PostgresqlDataset(const std::string& server) : server_(server), name_(NewName()) {
    // The server's URL names the database "postgres".
    db_ = absl::StrReplaceAll(server, {{"/postgres?", absl::StrCat("/", name_, "?")}});
    OnServer(absl::StrCat("CREATE DATABASE ", name_));
  }
  ~PostgresqlDataset() override { OnServer(absl::StrCat("DROP DATABASE ", name_, " WITH (FORCE)")); }

  absl::StatusOr<std::unique_ptr<StoreWriter>> OpenWriter() override { return postgresql::OpenPostgresqlWriter(db_); }
  absl::StatusOr<std::unique_ptr<StoreReader>> OpenReader() override { return postgresql::OpenPostgresqlReader(db_); }
  const std::string& db() const override { return db_; }

  std::string Query(const std::string& sql) override {
    postgresql::PgConnection connection(db_);
    absl::Status status = connection.Connect();
    if (!status.ok()) return status.ToString();
    const absl::StatusOr<postgresql::PgResult> result = connection.Execute(sql.c_str());
    if (!result.ok()) return result.status().ToString();
    return PQntuples(result->get()) == 0 ? "(no row)" : PQgetvalue(result->get(), 0, 0);
  }

 private:
  // Other processes create databases on the same server, and leave some of them there. A process id may repeat.
  static std::string NewName() {
    std::random_device random;
    return absl::StrCat("test_", absl::Hex(random(), absl::kZeroPad8), absl::Hex(random(), absl::kZeroPad8));
  }

  void OnServer(const std::string& sql) {
    postgresql::PgConnection connection(server_);
    absl::Status status = connection.Connect();
    if (status.ok()) status = connection.Execute(sql.c_str()).status();
    EXPECT_TRUE(status.ok()) << status;
  }

  const std::string server_;
  const std::string name_;
  std::string db_;
};

}  // namespace

std::unique_ptr<TestDataset> NewSqliteDataset(const sqlite::WriterOptions& options) {
  return std::make_unique<SqliteDataset>(options);
}

std::unique_ptr<TestDataset> NewPostgresqlDataset() {
  const char* const server = getenv(kServer);
  return std::make_unique<PostgresqlDataset>(server == nullptr ? "" : server);
}

std::unique_ptr<TestDataset> NewTestDataset(const sqlite::WriterOptions& options) {
  return getenv(kServer) == nullptr ? NewSqliteDataset(options) : NewPostgresqlDataset();
}

}  // namespace telemetry::storage
