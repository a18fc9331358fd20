#include "server/storage/upkeep/restore.h"

#include <stdio.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <optional>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/storage/sqlite/acked_mark.h"
#include "server/storage/sqlite/dataset_path.h"
#include "server/storage/sqlite/lock_file.h"
#include "server/storage/sqlite/private_file.h"
#include "server/storage/sqlite/sqlite_database.h"
#include "server/storage/upkeep/backup.h"
#include "server/storage/upkeep/check.h"

namespace telemetry::storage::upkeep {
namespace {

// The files of the old database, except for its mark. The mark stays until the copy is in place: without a database, or
// with a part of the old one, the mark prevents a collector from creating a new dataset.
constexpr const char* kFiles[] = {"-shm", "-wal", ".seals", ""};
constexpr char kMark[] = ".acked";

absl::Status CheckBackup(const std::string& from) {
  ASSIGN_OR_RETURN(const CheckReport report, CheckDataset(from));
  if (report.damage.empty()) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("the backup ", from, " is damaged: ", report.damage.front()));
}

// A flag of renameat2 would be specific to Linux. The lock keeps other processes of this program out.
absl::Status Rename(const std::string& from, const std::string& to) {
  if (rename(from.c_str(), to.c_str()) == 0) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, absl::StrCat("cannot rename ", from, " to ", to));
}

absl::Status SetAside(const std::string& database, const std::string& kept, const char* suffix) {
  if (!std::filesystem::exists(database + suffix)) return absl::OkStatus();
  return Rename(database + suffix, kept + suffix);
}

// Moves the old files aside and renames the draft to the database's name, durably.
absl::Status Exchange(const std::string& draft, const std::string& database, const std::string& kept) {
  absl::Status status;
  for (const char* suffix : kFiles) {
    if (status.ok()) status = SetAside(database, kept, suffix);
  }
  if (status.ok()) status = Rename(draft, database);
  if (status.ok()) status = SyncParentFolder(database);
  if (status.ok()) status = SetAside(database, kept, kMark);
  return status.ok() ? SyncParentFolder(database) : status;
}

absl::StatusOr<uint64_t> AckedRecords(const std::string& path) {
  ASSIGN_OR_RETURN(sqlite::SqliteDatabase database,
                   sqlite::SqliteDatabase::Open(path, {.read_only = true, .immutable = true, .vfs = {}}));
  ASSIGN_OR_RETURN(const int64_t records, database.QueryInt("SELECT ifnull(sum(committed_seq), 0) FROM producers"));
  return static_cast<uint64_t>(records);
}

}  // namespace

absl::StatusOr<RestoreReport> RestoreDataset(const std::string& from, const std::string& to, absl::Time now) {
  RETURN_IF_ERROR(sqlite::RequireFile(from));
  ASSIGN_OR_RETURN(const sqlite::LockFile lock, sqlite::LockFile::Acquire(to));
  ASSIGN_OR_RETURN(const std::string database, sqlite::RealPath(to));
  RETURN_IF_ERROR(CheckBackup(from));

  sqlite::TightenDataset(database);  // the replaced dataset is kept, so its files must be private too
  // The mark is read before it is moved. If it is damaged, only the number of missing records is unknown.
  const absl::StatusOr<std::optional<sqlite::AckedMark>> mark = sqlite::AckedMarkFile::Read(database);
  const std::string time = absl::FormatTime("%Y%m%dT%H%M%SZ", now, absl::UTCTimeZone());
  const std::string kept = absl::StrCat(database, ".replaced-", time);
  if (std::filesystem::exists(kept) || std::filesystem::exists(kept + kMark)) {
    return absl::AlreadyExistsError(absl::StrCat(kept, " already exists: try again in a second"));
  }
  const std::string draft = absl::StrCat(database, ".restored-", time);
  RETURN_IF_ERROR(BackUpDataset(from, draft));
  RestoreReport report;
  ASSIGN_OR_RETURN(const uint64_t records, AckedRecords(draft));
  report.records = records;
  if (mark.ok() && mark->has_value() && (*mark)->records > records) {
    report.missing_records = (*mark)->records - records;
  }
  if (std::filesystem::exists(database)) report.kept = kept;
  RETURN_IF_ERROR(Exchange(draft, database, kept));
  return report;
}

}  // namespace telemetry::storage::upkeep
