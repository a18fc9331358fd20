#include "server/storage/sqlite/reseal.h"

#include <sqlite3.h>

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/base/status_macros.h"
#include "server/storage/sql/statement.h"
#include "server/storage/sql/transaction.h"
#include "server/storage/sqlite/checksum_vfs.h"
#include "server/storage/sqlite/content_check.h"
#include "server/storage/sqlite/log_seals.h"
#include "server/storage/sqlite/wal_scan.h"

namespace telemetry::storage::sqlite {
namespace {

absl::Status Damaged(const std::vector<std::string>& damage) {
  return absl::DataLossError(
      absl::StrCat(damage.front(), damage.size() > 1 ? absl::StrCat(" and ", damage.size() - 1, " more") : "",
                   ": run telemetry-collector check on it, and if another program made this change, check --reseal"));
}

absl::Status AdmitPages(SqliteDatabase& database, bool damaged) {
  ASSIGN_OR_RETURN(const bool rewritten, IsRewritten(database));
  ASSIGN_OR_RETURN(sqlite3_file* const file, DatabaseFile(database));
  MutableAdmission(file) = {.foreign = rewritten, .damaged = damaged};
  return absl::OkStatus();
}

// Scans the file in the caller's transaction, which begins its view of the database with this call.
absl::StatusOr<PageScan> ScanInTransaction(SqliteDatabase& database, PagesToScan which) {
  RETURN_IF_ERROR(database.QueryInt("SELECT count(*) FROM sqlite_schema").status());
  ASSIGN_OR_RETURN(const WalScan log, ScanWal(database));
  return ScanPages(database, log.pages, which);
}

// Verifies the content if there are pages of other programs, which checksums cannot verify.
absl::Status VerifyContent(SqliteDatabase& database, const PageScan& scan) {
  if (scan.foreign.empty() && scan.damaged.empty()) return absl::OkStatus();
  const std::vector<std::string> damage = CheckContent(database);
  return damage.empty() ? absl::OkStatus() : Damaged(damage);
}

// Prevents other connections from checkpointing the log into the file, which SQLite's write lock does not do. A
// database in rollback journal mode has no such lock and needs none.
class CheckpointLock {
 public:
  static absl::StatusOr<CheckpointLock> Take(SqliteDatabase& database) {
    ASSIGN_OR_RETURN(sqlite3_file* const file, DatabaseFile(database));
    sql::Statement mode(database, "PRAGMA journal_mode");
    RETURN_IF_ERROR(mode.Step().status());
    if (mode.Text(0) != "wal") return CheckpointLock(nullptr);
    const int code = file->pMethods->xShmLock(file, kLock, 1, SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE);
    if (code != SQLITE_OK) return SqliteStatus(code);
    return CheckpointLock(file);
  }

  CheckpointLock(CheckpointLock&& other) noexcept : file_(std::exchange(other.file_, nullptr)) {}
  CheckpointLock& operator=(CheckpointLock&&) = delete;
  ~CheckpointLock() {
    if (file_ != nullptr) file_->pMethods->xShmLock(file_, kLock, 1, SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE);
  }

 private:
  static constexpr int kLock = 1;  // WAL_CKPT_LOCK of SQLite's file format

  explicit CheckpointLock(sqlite3_file* file) : file_(file) {}

  sqlite3_file* file_;
};

std::vector<uint32_t> UnsealedIn(const PageScan& scan) {
  std::vector<uint32_t> all = scan.logged;
  all.insert(all.end(), scan.foreign.begin(), scan.foreign.end());
  all.insert(all.end(), scan.damaged.begin(), scan.damaged.end());
  return all;
}

// Writes the pages back as they are stored in the file, durably; the VFS seals them. Skips the first page: a write of
// it that is torn by a power cut could not be told from damage.
absl::Status SealInPlace(sqlite3_file* file, const std::vector<uint32_t>& numbers, const PageScan& scan) {
  std::vector<char> page(scan.page_bytes);
  PageState state = PageState::kSealed;
  for (const uint32_t number : numbers) {
    if (number == 1) continue;
    int code = ReadPageAsItLies(file, number, page.data(), scan.page_bytes, &state);
    const sqlite3_int64 offset = sqlite3_int64{number - 1} * scan.page_bytes;
    if (code == SQLITE_OK) code = file->pMethods->xWrite(file, page.data(), scan.page_bytes, offset);
    if (code != SQLITE_OK) return SqliteStatus(code);
  }
  const int code = file->pMethods->xSync(file, SQLITE_SYNC_FULL);
  return code == SQLITE_OK ? absl::OkStatus() : SqliteStatus(code);
}

// Makes SQLite write the first page.
absl::Status TouchFirstPage(SqliteDatabase& database) {
  ASSIGN_OR_RETURN(const int64_t version, database.QueryInt("PRAGMA user_version"));
  return database.Execute(absl::StrCat("PRAGMA user_version = ", version).c_str());
}

absl::StatusOr<ResealReport> Reseal(SqliteDatabase& database, PagesToScan which, PageScan* scan) {
  ASSIGN_OR_RETURN(sqlite3_file* const file, DatabaseFile(database));
  ASSIGN_OR_RETURN(sql::Transaction transaction, sql::Transaction::BeginWrite(database));
  {
    ASSIGN_OR_RETURN(const CheckpointLock lock, CheckpointLock::Take(database));
    ASSIGN_OR_RETURN(PageScan scanned, ScanInTransaction(database, which));
    *scan = std::move(scanned);
    // After a crash of the collector, if no other program has written, the log holds all of these pages.
    if (UnsealedIn(*scan).empty() && scan->damage.empty() && !scan->rewritten) return ResealReport{};
    // Missing pages cannot be sealed.
    const size_t tolerated = MutableAdmission(file).damaged ? scan->damaged.size() : 0;
    absl::Status status = scan->damage.size() > tolerated ? Damaged(scan->damage) : VerifyContent(database, *scan);
    if (status.ok()) status = SealInPlace(file, UnsealedIn(*scan), *scan);
    if (status.ok()) status = TouchFirstPage(database);
    if (!status.ok()) return status;
  }
  RETURN_IF_ERROR(transaction.Commit());
  MutableAdmission(file) = {};
  // A reader may be in the way. The first page is then sealed by a later checkpoint.
  RETURN_IF_ERROR(database.Execute("PRAGMA wal_checkpoint"));
  return ResealReport{.logged = scan->logged.size(), .foreign = scan->foreign.size() + scan->damaged.size()};
}

}  // namespace

absl::Status AdmitForeignPages(SqliteDatabase& database) { return AdmitPages(database, /*damaged=*/false); }

absl::Status AdmitAllPages(SqliteDatabase& database) { return AdmitPages(database, /*damaged=*/true); }

absl::Status VerifyForeignPages(SqliteDatabase& database) {
  const absl::StatusOr<sqlite3_file*> file = DatabaseFile(database);
  if (!file.ok() || !MutableAdmission(*file).foreign) return file.status();
  ASSIGN_OR_RETURN(const sql::Transaction transaction, sql::Transaction::BeginRead(database));
  ASSIGN_OR_RETURN(const PageScan scan, ScanInTransaction(database, PagesToScan::kAll));
  return scan.damage.empty() ? VerifyContent(database, scan) : Damaged(scan.damage);
}

absl::StatusOr<ResealReport> ResealPages(SqliteDatabase& database) {
  ASSIGN_OR_RETURN(sqlite3_file* const file, DatabaseFile(database));
  PageScan scan;
  if (MutableAdmission(file).foreign) return Reseal(database, PagesToScan::kAll, &scan);
  if (LogSeals::Read(sqlite3_db_filename(database.handle(), "main")).empty()) return ResealReport{};
  return Reseal(database, PagesToScan::kLogged, &scan);
}

absl::StatusOr<ResealReport> ResealAllPages(SqliteDatabase& database, PageScan* scan) {
  return Reseal(database, PagesToScan::kAll, scan);
}

std::string DescribeReseal(const ResealReport& report) {
  std::vector<std::string> parts;
  if (report.logged > 0) {
    parts.push_back(absl::StrCat(
        "pages that another program moved from the log, verified by their recorded checksums: ", report.logged));
  }
  if (report.foreign > 0) {
    parts.push_back(
        absl::StrCat("pages that another program wrote, verified by integrity_check, foreign keys and "
                     "acknowledged records: ",
                     report.foreign));
  }
  return parts.empty() ? "all pages were sealed already" : absl::StrCat("sealed ", absl::StrJoin(parts, "; "));
}

}  // namespace telemetry::storage::sqlite
