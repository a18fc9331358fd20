#include "server/storage/sqlite/dataset_file.h"

#include <sqlite3.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <system_error>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/storage/readers/sql_reader.h"
#include "server/storage/sql/statement.h"
#include "server/storage/sql/transaction.h"
#include "server/storage/sqlite/acked_check.h"
#include "server/storage/sqlite/acked_mark.h"
#include "server/storage/sqlite/dataset_path.h"
#include "server/storage/sqlite/lock_file.h"
#include "server/storage/sqlite/migrator.h"
#include "server/storage/sqlite/page_scan.h"
#include "server/storage/sqlite/private_file.h"
#include "server/storage/sqlite/reseal.h"

namespace telemetry::storage::sqlite {
namespace {

absl::Status InFile(const std::string& path, const absl::Status& status) {
  if (status.ok()) return status;
  const char* remedy =
      absl::IsDataLoss(status) ? ": the file is damaged or not a database; restore a backup of it" : "";
  return absl::Status(status.code(), absl::StrCat(path, ": ", status.message(), remedy));
}

absl::Status UseWal(SqliteDatabase& database) {
  // The writer itself creates all keys, and `check` verifies them. Enforcing foreign keys for each row would cost more
  // than storing the row.
  absl::Status status = database.Execute("PRAGMA foreign_keys = OFF; PRAGMA cache_size = -32768");
  if (status.ok()) {
    sql::Statement wal(database, "PRAGMA journal_mode = WAL");
    RETURN_IF_ERROR(wal.Step().status());
    if (wal.Text(0) != "wal") return absl::UnavailableError("the file system has no shared memory for a SQLite WAL");
  }
  if (!status.ok()) return status;
  return database.Execute("PRAGMA synchronous = FULL");
}

absl::StatusOr<std::optional<AckedMark>> ReadMark(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string real_path, RealPath(path));
  return AckedMarkFile::Read(real_path);
}

// Checks, before anything is written, that the file is a dataset, not too new, and not missing acknowledged records.
absl::Status Inspect(SqliteDatabase& database, const std::string& path) {
  if (absl::Status status = SchemaVersion(database).status(); !status.ok()) return InFile(path, status);
  ASSIGN_OR_RETURN(const std::optional<AckedMark> mark, ReadMark(path));
  return RequireAcked(database, path, mark);
}

// Sets whether closing the connection leaves the log as it is: a damaged log must not be checkpointed into the
// database.
void KeepLog(SqliteDatabase& database, bool keep) {
  sqlite3_db_config(database.handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keep ? 1 : 0, nullptr);
}

// Opens an intact dataset, or an empty file that will become one, and seals all of its pages.
absl::StatusOr<SqliteDatabase> OpenSealed(const std::string& path, const SqliteDatabase::Options& options,
                                          absl::FunctionRef<absl::Status(SqliteDatabase&)> inspect,
                                          const std::function<void(const ResealReport&)>& on_reseal) {
  RETURN_IF_ERROR(MakePrivateFile(path));
  ASSIGN_OR_RETURN(SqliteDatabase database, SqliteDatabase::Open(path, options));
  KeepLog(database, true);
  if (absl::Status status = AdmitForeignPages(database); !status.ok()) return InFile(path, status);
  RETURN_IF_ERROR(inspect(database));
  const absl::StatusOr<ResealReport> report = ResealPages(database);
  if (!report.ok()) return InFile(path, report.status());
  if (on_reseal && report->logged + report->foreign > 0) on_reseal(*report);
  KeepLog(database, false);
  return database;
}

absl::Status Prepare(SqliteDatabase& database, const WriterOptions& options) {
  RETURN_IF_ERROR(UseWal(database));
  RETURN_IF_ERROR(Migrate(database));
  sql::Statement name(database,
                      "INSERT INTO dataset (dataset_id, created_unix_us) "
                      "SELECT randomblob(16), ?1 WHERE NOT EXISTS (SELECT 1 FROM dataset)");
  return name.Bind(absl::ToUnixMicros(options.clock())).Run();
}

// Returns whether a file can be read without SQLite's shared memory, which SQLite cannot create in some folders. That
// is the case if the log is empty; then the file does not change during the read either.
bool MayBeReadAsImmutable(const std::string& path) {
  std::error_code error;
  const auto log_bytes = std::filesystem::file_size(path + "-wal", error);
  return error || log_bytes == 0;
}

absl::Status PrepareToRead(SqliteDatabase& database, const ReaderOptions& options) {
  absl::Status status = AdmitForeignPages(database);
  if (status.ok()) status = RequireCurrentSchema(database);
  return status.ok() && options.verify_foreign ? VerifyForeignPages(database) : status;
}

absl::StatusOr<SqliteDatabase> OpenReadOnly(const std::string& path, const ReaderOptions& options) {
  SqliteDatabase::Options open{.read_only = true, .vfs = options.vfs, .busy_timeout = options.busy_timeout};
  absl::StatusOr<SqliteDatabase> database = SqliteDatabase::Open(path, open);
  if (!database.ok()) return database.status();
  absl::Status status = PrepareToRead(*database, options);
  const bool no_access = absl::IsNotFound(status) || absl::IsPermissionDenied(status);
  if (!no_access || !MayBeReadAsImmutable(path)) return status.ok() ? std::move(database) : InFile(path, status);
  open.immutable = true;
  database = SqliteDatabase::Open(path, open);
  if (!database.ok()) return database.status();
  if (status = PrepareToRead(*database, options); !status.ok()) return InFile(path, status);
  return database;
}

}  // namespace

absl::StatusOr<SqliteDatabase> OpenDatasetForWriting(const std::string& path, const WriterOptions& options) {
  ASSIGN_OR_RETURN(SqliteDatabase database,
                   OpenSealed(
                       path, {.vfs = options.vfs, .busy_timeout = options.busy_timeout},
                       [&path](SqliteDatabase& opened) { return Inspect(opened, path); }, options.on_reseal));
  if (absl::Status status = Prepare(database, options); !status.ok()) return InFile(path, status);
  return database;
}

absl::StatusOr<SqliteDatabase> OpenFileForCopying(const std::string& path) {
  bool is_unfinished = false;
  const auto is_ours = [&](SqliteDatabase& opened) {
    const absl::StatusOr<bool> unfinished = IsUnfinishedCopy(opened);
    if (!unfinished.ok()) return InFile(path, unfinished.status());
    is_unfinished = *unfinished;
    return is_unfinished ? absl::OkStatus() : InFile(path, SchemaVersion(opened).status());
  };
  ASSIGN_OR_RETURN(SqliteDatabase database, OpenSealed(path, {.vfs = {}}, is_ours, nullptr));
  absl::Status status = UseWal(database);
  if (status.ok() && !is_unfinished) status = Migrate(database);
  if (!status.ok()) return InFile(path, status);
  return database;
}

absl::StatusOr<SqliteDatabase> OpenDatasetForReading(const std::string& path, const ReaderOptions& options) {
  if (!options.check_acked) return OpenReadOnly(path, options);
  const absl::StatusOr<std::optional<AckedMark>> mark = ReadMark(path);
  if (absl::IsDataLoss(mark.status())) return mark.status();
  ASSIGN_OR_RETURN(SqliteDatabase database, OpenReadOnly(path, options));
  absl::StatusOr<sql::Transaction> transaction = sql::Transaction::BeginRead(database);
  absl::Status status = transaction.status();
  // If the mark is not readable, the log alone is checked.
  if (status.ok()) status = RequireAcked(database, path, mark.ok() ? *mark : std::nullopt);
  if (!status.ok()) return status;
  transaction->Commit().IgnoreError();
  return database;
}

absl::StatusOr<std::unique_ptr<StoreReader>> OpenSqliteReader(const std::string& path, const ReaderOptions& options) {
  ASSIGN_OR_RETURN(SqliteDatabase database, OpenDatasetForReading(path, options));
  return std::make_unique<readers::SqlReader>(std::make_unique<SqliteDatabase>(std::move(database)));
}

absl::StatusOr<ResealReport> ResealDataset(const std::string& path, PageScan* scan) {
  RETURN_IF_ERROR(RequireFile(path));
  ASSIGN_OR_RETURN(const LockFile lock, LockFile::Acquire(path));
  ASSIGN_OR_RETURN(SqliteDatabase database, SqliteDatabase::Open(path, {.vfs = {}}));
  KeepLog(database, true);
  if (absl::Status status = AdmitAllPages(database); !status.ok()) return InFile(path, status);
  RETURN_IF_ERROR(Inspect(database, path));
  absl::StatusOr<ResealReport> report = ResealAllPages(database, scan);
  if (!report.ok()) return InFile(path, report.status());
  KeepLog(database, false);
  return report;
}

absl::StatusOr<bool> AddPageChecksums(const std::string& path) {
  ASSIGN_OR_RETURN(const LockFile lock, LockFile::Acquire(path));
  ASSIGN_OR_RETURN(SqliteDatabase database, OpenDatasetForWriting(path, {}));
  constexpr char kEmptyLog[] = "PRAGMA wal_checkpoint(TRUNCATE)";
  absl::Status status = database.Execute(kEmptyLog);
  if (!status.ok()) return InFile(path, status);
  const absl::StatusOr<bool> has = HasPageChecksums(database);
  if (!has.ok()) return InFile(path, has.status());
  if (*has) return false;
  // SqliteDatabase::Open() has reserved the bytes for checksums.
  status = database.Execute("VACUUM");
  if (status.ok()) status = database.Execute(kEmptyLog);
  if (!status.ok()) return InFile(path, status);
  return true;
}

}  // namespace telemetry::storage::sqlite
