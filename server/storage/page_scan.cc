#include "server/storage/page_scan.h"

#include <sqlite3.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "server/storage/checksum_vfs.h"
#include "server/storage/page_checksum.h"

namespace telemetry::storage {
namespace {

// A page may be read while a checkpoint writes it.
constexpr int kTries = 100;

int ReadPage(sqlite3_file* file, std::vector<char>& page, uint32_t number) {
  const auto offset = static_cast<sqlite3_int64>(number - 1) * static_cast<sqlite3_int64>(page.size());
  int code = SQLITE_IOERR_DATA;
  for (int tries = 0; code == SQLITE_IOERR_DATA && tries < kTries; ++tries) {
    code = file->pMethods->xRead(file, page.data(), static_cast<int>(page.size()), offset);
  }
  return code;
}

absl::StatusOr<sqlite3_file*> FileOf(SqliteDatabase& database) {
  sqlite3_file* file = nullptr;
  const int code =
      sqlite3_file_control(database.handle(), "main", SQLITE_FCNTL_FILE_POINTER, static_cast<void*>(&file));
  if (code != SQLITE_OK) return SqliteStatus(code);
  return file;
}

}  // namespace

absl::StatusOr<bool> HasPageChecksums(SqliteDatabase& database) {
  const absl::StatusOr<int64_t> page_bytes = database.QueryInt("PRAGMA page_size");
  if (!page_bytes.ok()) return page_bytes.status();
  const absl::StatusOr<sqlite3_file*> file = FileOf(database);
  if (!file.ok()) return file.status();
  std::vector<char> page(*page_bytes);
  const int code = ReadPage(*file, page, 1);
  if (code != SQLITE_OK && code != SQLITE_IOERR_DATA && code != SQLITE_IOERR_SHORT_READ) return SqliteStatus(code);
  return LayoutOf({page.data(), page.size()}).checked;
}

absl::StatusOr<PageScan> ScanPages(SqliteDatabase& database, const absl::flat_hash_set<uint32_t>& superseded) {
  const absl::StatusOr<bool> checked = HasPageChecksums(database);
  if (!checked.ok()) return checked.status();
  const absl::StatusOr<int64_t> page_bytes = database.QueryInt("PRAGMA page_size");
  if (!page_bytes.ok()) return page_bytes.status();
  const absl::StatusOr<int64_t> pages = database.QueryInt("PRAGMA page_count");
  if (!pages.ok()) return pages.status();
  const absl::StatusOr<sqlite3_file*> file = FileOf(database);
  if (!file.ok()) return file.status();
  sqlite3_int64 bytes = 0;
  if (const int code = (*file)->pMethods->xFileSize(*file, &bytes); code != SQLITE_OK) return SqliteStatus(code);

  // A last page that was cut counts, too, and those that should be there.
  PageScan scan{.checked = *checked,
                .pages = static_cast<uint32_t>(std::max<int64_t>((bytes + *page_bytes - 1) / *page_bytes, *pages)),
                .damage = {}};
  if (!scan.checked) return scan;
  std::vector<char> page(*page_bytes);
  for (uint32_t number = 1; number <= scan.pages; ++number) {
    if (superseded.contains(number)) continue;
    const int code = ReadPage(*file, page, number);
    if (code == SQLITE_IOERR_DATA) {
      scan.damage.push_back(LastPageDamage());
    } else if (code != SQLITE_OK) {
      return SqliteStatus(code);
    }
  }
  return scan;
}

}  // namespace telemetry::storage
