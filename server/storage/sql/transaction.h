#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/sql/database.h"

namespace telemetry::storage {

// A transaction that rolls back unless it was committed. Must not outlive its database.
class Transaction {
 public:
  static absl::StatusOr<Transaction> BeginWrite(Database& database);
  // One consistent view of the database for several statements.
  static absl::StatusOr<Transaction> BeginRead(Database& database);

  Transaction(Transaction&& other) noexcept;
  Transaction& operator=(Transaction&& other) = delete;
  ~Transaction();

  // After an error nothing of the transaction may be taken for durable.
  absl::Status Commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}

  Database* database_;  // nullptr: over
};

}  // namespace telemetry::storage
