#include "server/storage/sql/statement.h"

namespace telemetry::storage {

absl::Status Statement::Run() {
  absl::StatusOr<bool> row = Step();
  while (row.ok() && *row) row = Step();
  return row.status();
}

absl::StatusOr<int64_t> Statement::RunCounting() {
  if (absl::Status status = Run(); !status.ok()) return status;
  return prepared_->changes();
}

absl::StatusOr<std::optional<int64_t>> Statement::QueryInt() {
  const absl::StatusOr<bool> row = Step();
  if (!row.ok()) return row.status();
  if (!*row) return std::nullopt;
  const int64_t value = Int(0);
  Reset();
  return value;
}

}  // namespace telemetry::storage
