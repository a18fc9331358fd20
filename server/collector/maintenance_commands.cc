#include "server/collector/maintenance_commands.h"

#include <cstdio>

#include "server/storage/backup.h"
#include "server/storage/check.h"
#include "server/storage/sqlite_store.h"

namespace telemetry::collector {

absl::Status Check(const CommandLine& line) {
  absl::StatusOr<storage::CheckReport> report = storage::CheckDataset(line.db);
  if (!report.ok()) return report.status();
  std::fputs(storage::FormatReport(*report).c_str(), stdout);
  return storage::ReportStatus(*report);
}

absl::Status Backup(const CommandLine& line) {
  if (absl::Status status = storage::BackUpDataset(line.db, line.to); !status.ok()) return status;
  std::printf("%s: copied to %s\n", line.db.c_str(), line.to.c_str());
  return absl::OkStatus();
}

absl::Status MigrateDataset(const CommandLine& line) {
  // Opening a dataset for writing brings its schema up to date.
  if (absl::Status status = storage::OpenSqliteWriter(line.db).status(); !status.ok()) return status;
  std::printf("%s: up to date\n", line.db.c_str());
  return absl::OkStatus();
}

}  // namespace telemetry::collector
