#include "server/storage/sql/statement.h"

#include "proto/base/status_macros.h"

namespace telemetry::storage::sql {

absl::Status Statement::Run() {
  absl::StatusOr<bool> row = Step();
  while (row.ok() && *row) row = Step();
  return row.status();
}

absl::StatusOr<int64_t> Statement::RunCounting() {
  RETURN_IF_ERROR(Run());
  return prepared_->changes();
}

absl::StatusOr<std::optional<int64_t>> Statement::QueryInt() {
  ASSIGN_OR_RETURN(const bool row, Step());
  if (!row) return std::nullopt;
  const int64_t value = Int(0);
  Reset();
  return value;
}

}  // namespace telemetry::storage::sql
