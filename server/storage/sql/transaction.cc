#include "server/storage/sql/transaction.h"

#include <utility>

#include "proto/base/status_macros.h"

namespace telemetry::storage::sql {

absl::StatusOr<Transaction> Transaction::BeginWrite(Database& database) {
  RETURN_IF_ERROR(database.Begin(Database::Access::kWrite));
  return Transaction(database);
}

absl::StatusOr<Transaction> Transaction::BeginRead(Database& database) {
  RETURN_IF_ERROR(database.Begin(Database::Access::kRead));
  return Transaction(database);
}

Transaction::Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}

Transaction::~Transaction() {
  // After some errors a database has already rolled back by itself. An error here is ignored, since a destructor cannot
  // return it.
  if (database_ != nullptr) database_->RollBack().IgnoreError();
}

absl::Status Transaction::Commit() {
  absl::Status status = database_->Commit();
  if (status.ok()) database_ = nullptr;
  return status;
}

}  // namespace telemetry::storage::sql
