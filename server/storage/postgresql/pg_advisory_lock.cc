#include "server/storage/postgresql/pg_advisory_lock.h"

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace telemetry::storage::postgresql {

bool PgAdvisoryLock::is_held() const {
  return held_on_ == database_.connection().generation() && database_.connection().alive();
}

absl::StatusOr<bool> PgAdvisoryLock::TryHold() {
  if (is_held()) return true;
  const std::string sql = absl::StrCat("SELECT pg_try_advisory_lock(", static_cast<int64_t>(task_), ")::int");
  ASSIGN_OR_RETURN(const int64_t acquired, database_.QueryInt(sql.c_str()));
  if (acquired != 0) held_on_ = database_.connection().generation();
  return acquired != 0;
}

absl::Status PgAdvisoryLock::Release() {
  if (!is_held()) return absl::OkStatus();
  held_on_ = 0;
  return database_.Execute(absl::StrCat("SELECT pg_advisory_unlock(", static_cast<int64_t>(task_), ")").c_str());
}

}  // namespace telemetry::storage::postgresql
