#include "server/storage/sqlite/page_scan.h"

#include <sqlite3.h>

#include <algorithm>

#include "proto/base/status_macros.h"
#include "server/storage/sqlite/checksum_vfs.h"
#include "server/storage/sqlite/log_seals.h"
#include "server/storage/sqlite/page_checksum.h"

namespace telemetry::storage::sqlite {
namespace {

// Limit of reads of one page: a checkpoint may write the page during a read.
constexpr int kTries = 100;

// Returns the number of the page that contains the bytes which SQLite locks. SQLite never reads or writes it, so a file
// above this offset, 1 GiB, has a hole there (https://sqlite.org/fileformat2.html, "The Lock-Byte Page").
uint32_t LockBytePage(int64_t page_bytes) {
  // Argument 0 changes nothing; tests move the bytes.
  const int64_t lock_byte = sqlite3_test_control(SQLITE_TESTCTRL_PENDING_BYTE, 0);
  return static_cast<uint32_t>(lock_byte / page_bytes + 1);
}

bool IsOwn(PageState state) { return state == PageState::kSealed || state == PageState::kLogged; }

int ReadPage(sqlite3_file* file, uint32_t number, int tries, std::vector<char>& page, PageState* state) {
  int code = SQLITE_IOERR_DATA;
  for (; tries > 0 && (code == SQLITE_IOERR_DATA || (code == SQLITE_OK && !IsOwn(*state))); --tries) {
    code = ReadPageAsItLies(file, number, page.data(), static_cast<int>(page.size()), state);
  }
  return code;
}

// Reads the layout without SQLite, which may not accept the first page yet.
absl::StatusOr<PageLayout> LayoutIn(sqlite3_file* file) {
  char header[kDatabaseHeaderBytes];
  const int code = file->pMethods->xRead(file, header, sizeof header, 0);
  if (code == SQLITE_IOERR_SHORT_READ) return PageLayout{};
  if (code != SQLITE_OK) return SqliteStatus(code);
  return ParsePageLayout({header, sizeof header});
}

class Scanner {
 public:
  Scanner(sqlite3_file* file, int64_t page_bytes, PageScan* scan) : file_(file), page_(page_bytes), scan_(*scan) {}

  absl::Status Take(uint32_t number) {
    PageState state = PageState::kSealed;
    // No collector serves a file that another program has written to, so one read is sufficient.
    const int code = ReadPage(file_, number, scan_.rewritten ? 1 : kTries, page_, &state);
    if (code == SQLITE_IOERR_DATA) {
      scan_.damage.push_back(LastPageDamage());
    } else if (code != SQLITE_OK) {
      return SqliteStatus(code);
    } else if (state == PageState::kLogged) {
      scan_.logged.push_back(number);
    } else if (state == PageState::kForeign && scan_.rewritten) {
      scan_.foreign.push_back(number);
    } else if (state != PageState::kSealed) {
      NameDamage(file_, number);
      scan_.damaged.push_back(number);
      scan_.damage.push_back(LastPageDamage());
    }
    return absl::OkStatus();
  }

 private:
  sqlite3_file* const file_;
  std::vector<char> page_;
  PageScan& scan_;
};

}  // namespace

absl::StatusOr<sqlite3_file*> DatabaseFile(SqliteDatabase& database) {
  sqlite3_file* file = nullptr;
  const int code =
      sqlite3_file_control(database.handle(), "main", SQLITE_FCNTL_FILE_POINTER, static_cast<void*>(&file));
  if (code != SQLITE_OK) return SqliteStatus(code);
  return file;
}

absl::StatusOr<bool> HasPageChecksums(SqliteDatabase& database) {
  ASSIGN_OR_RETURN(const int64_t page_bytes, database.QueryInt("PRAGMA page_size"));
  ASSIGN_OR_RETURN(sqlite3_file* const file, DatabaseFile(database));
  std::vector<char> page(page_bytes);
  PageState state = PageState::kSealed;
  const int code = ReadPage(file, 1, /*tries=*/1, page, &state);
  if (code != SQLITE_OK && code != SQLITE_IOERR_DATA) return SqliteStatus(code);
  return ParsePageLayout({page.data(), page.size()}).checked;
}

absl::StatusOr<bool> IsRewritten(SqliteDatabase& database) {
  ASSIGN_OR_RETURN(sqlite3_file* const file, DatabaseFile(database));
  ASSIGN_OR_RETURN(const PageLayout layout, LayoutIn(file));
  if (!layout.checked || layout.page_bytes == 0) return false;
  std::vector<char> page(layout.page_bytes);
  PageState state = PageState::kSealed;
  const int code = ReadPage(file, 1, kTries, page, &state);
  if (code == SQLITE_IOERR_DATA) return false;  // the file is truncated, which a reader of the page detects
  if (code != SQLITE_OK) return SqliteStatus(code);
  return state == PageState::kForeign;
}

absl::StatusOr<PageScan> ScanPages(SqliteDatabase& database, const absl::flat_hash_set<uint32_t>& superseded,
                                   PagesToScan which) {
  ASSIGN_OR_RETURN(const bool checked, HasPageChecksums(database));
  ASSIGN_OR_RETURN(const int64_t page_bytes, database.QueryInt("PRAGMA page_size"));
  ASSIGN_OR_RETURN(const int64_t pages, database.QueryInt("PRAGMA page_count"));
  ASSIGN_OR_RETURN(sqlite3_file* const file, DatabaseFile(database));
  sqlite3_int64 bytes = 0;
  if (const int code = file->pMethods->xFileSize(file, &bytes); code != SQLITE_OK) return SqliteStatus(code);

  // Counts a truncated last page, and pages that should exist.
  PageScan scan{.checked = checked,
                .page_bytes = static_cast<int>(page_bytes),
                .pages = static_cast<uint32_t>(std::max<int64_t>((bytes + page_bytes - 1) / page_bytes, pages)),
                .rewritten = MutableAdmission(file).foreign,
                .logged = {},
                .foreign = {},
                .damaged = {},
                .damage = {}};
  if (!scan.checked) return scan;
  Scanner scanner(file, page_bytes, &scan);
  const uint32_t lock_page = LockBytePage(page_bytes);
  const auto take = [&](uint32_t number) {
    const bool is_left_out = superseded.contains(number) || number > scan.pages || number == lock_page;
    return is_left_out ? absl::OkStatus() : scanner.Take(number);
  };
  absl::Status status;
  if (which == PagesToScan::kAll) {
    for (uint32_t number = 1; number <= scan.pages && status.ok(); ++number) status = take(number);
  } else {
    for (const auto& [number, seals] : LogSeals::Read(sqlite3_db_filename(database.handle(), "main"))) {
      if (status.ok()) status = take(number);
    }
  }
  if (!status.ok()) return status;
  return scan;
}

}  // namespace telemetry::storage::sqlite
