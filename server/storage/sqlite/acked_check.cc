#include "server/storage/sqlite/acked_check.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/base/status_macros.h"
#include "server/storage/sql/statement.h"

namespace telemetry::storage::sqlite {
namespace {

// The dataset_id and the number of acknowledged records that the database holds.
struct Held {
  std::string dataset_id;  // empty: not a dataset yet
  uint64_t records = 0;
};

absl::StatusOr<Held> HeldBy(SqliteDatabase& database) {
  ASSIGN_OR_RETURN(const int64_t tables,
                   database.QueryInt("SELECT count(*) FROM sqlite_schema WHERE name IN ('dataset', 'producers')"));
  if (tables < 2) return Held{};
  sql::Statement query(database,
                       "SELECT dataset_id, (SELECT ifnull(sum(committed_seq), 0) FROM producers) FROM dataset");
  ASSIGN_OR_RETURN(const bool row, query.Step());
  if (!row) return Held{};
  return Held{.dataset_id = std::string(query.Bytes(0)), .records = static_cast<uint64_t>(query.Int(1))};
}

absl::StatusOr<AckedCheck> CheckOnce(SqliteDatabase& database, const std::optional<AckedMark>& mark) {
  ASSIGN_OR_RETURN(WalScan log, ScanWal(database));
  AckedCheck check{.log = std::move(log), .damage = {}};
  ASSIGN_OR_RETURN(const Held held, HeldBy(database));
  // If another dataset was put in this one's place, the mark does not apply to it.
  const bool applies = mark.has_value() && (held.dataset_id.empty() || held.dataset_id == mark->dataset_id);
  if (applies && check.log.salts == mark->log_salts) {
    check.log.durable = std::max(check.log.durable, mark->log_frames);
  }
  if (std::optional<std::string> damage = DescribeDamage(check.log)) check.damage.push_back(*std::move(damage));
  if (applies && held.records < mark->records) {
    check.damage.push_back(
        absl::StrCat(mark->records - held.records, " of ", mark->records, " acknowledged records are missing"));
  }
  return check;
}

}  // namespace

absl::StatusOr<AckedCheck> CheckAcked(SqliteDatabase& database, const std::optional<AckedMark>& mark) {
  absl::StatusOr<AckedCheck> first = CheckOnce(database, mark);
  if (!first.ok() || first->damage.empty()) return first;
  // A writer may restart or extend its log during the scan. Only damage that two scans find is reported.
  absl::StatusOr<AckedCheck> second = CheckOnce(database, mark);
  if (second.ok() && (second->log.salts != first->log.salts || second->log.first_bad != first->log.first_bad)) {
    second = CheckOnce(database, mark);
  }
  return second;
}

absl::Status RequireAcked(SqliteDatabase& database, const std::string& path, const std::optional<AckedMark>& mark) {
  ASSIGN_OR_RETURN(const AckedCheck check, CheckAcked(database, mark));
  if (check.damage.empty()) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(
      path, ": ", absl::StrJoin(check.damage, "; "),
      ". No file was changed. Restore a backup with telemetry-collector restore. To continue without the missing "
      "records, back up the readable ones (telemetry-collector backup) and restore that backup"));
}

}  // namespace telemetry::storage::sqlite
