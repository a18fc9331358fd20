#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/sql/database.h"

namespace telemetry::storage::sql {

// A transaction that rolls back unless it was committed. Must not outlive its database.
class Transaction {
 public:
  static absl::StatusOr<Transaction> BeginWrite(Database& database);
  // Begins a transaction in which several statements see one consistent state of the database.
  static absl::StatusOr<Transaction> BeginRead(Database& database);

  Transaction(Transaction&& other) noexcept;
  Transaction& operator=(Transaction&& other) = delete;
  ~Transaction();

  // Commits. After an error no part of the transaction may be considered durable.
  absl::Status Commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}

  Database* database_;  // nullptr: ended
};

}  // namespace telemetry::storage::sql
