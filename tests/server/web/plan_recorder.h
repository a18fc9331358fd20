#pragma once

#include <memory>
#include <string>
#include <vector>

#include "server/storage/sql/database.h"

namespace telemetry::web {

// A connection to a SQLite database that remembers how SQLite runs each statement that is prepared.
class PlanRecorder final : public storage::sql::Database {
 public:
  // `database` must outlive the recorder.
  explicit PlanRecorder(storage::sql::Database& database) : database_(database) {}

  std::unique_ptr<storage::sql::PreparedStatement> Prepare(const storage::sql::StatementText& statement) override;
  std::unique_ptr<storage::sql::PreparedStatement> Prepare(const storage::sql::BulkInsert& insert) override;
  absl::Status Execute(const char* sql) override { return database_.Execute(sql); }
  int64_t changed_rows() const override { return database_.changed_rows(); }
  absl::Status Begin(Access access) override { return database_.Begin(access); }
  absl::Status Commit() override { return database_.Commit(); }
  absl::Status RollBack() override { return database_.RollBack(); }

  // Returns the steps that read a whole table or index, as "SCAN table: statement".
  const std::vector<std::string>& scans() const { return scans_; }
  size_t statements() const { return statements_; }

 private:
  storage::sql::Database& database_;
  std::vector<std::string> scans_;
  size_t statements_ = 0;
};

}  // namespace telemetry::web
