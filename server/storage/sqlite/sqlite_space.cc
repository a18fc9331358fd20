#include "server/storage/sqlite/sqlite_space.h"

#include <algorithm>

#include "proto/base/status_macros.h"

namespace telemetry::storage::sqlite {

absl::StatusOr<int64_t> SqliteSpace::UsedBytes() {
  return database_.QueryInt(
      "SELECT (p.page_count - f.freelist_count) * s.page_size "
      "FROM pragma_page_count AS p, pragma_freelist_count AS f, pragma_page_size AS s");
}

absl::StatusOr<double> SqliteSpace::RowBytes(int64_t counted_bytes) {
  ASSIGN_OR_RETURN(const int64_t rows, database_.QueryInt("SELECT count(*) FROM measurements"));
  // Each table and each index has a page of its own, however few rows there are.
  ASSIGN_OR_RETURN(const int64_t empty,
                   database_.QueryInt("SELECT count(*) * (SELECT page_size FROM pragma_page_size) FROM sqlite_schema "
                                      "WHERE rootpage > 0"));
  return static_cast<double>(std::max<int64_t>(counted_bytes - empty, 0)) /
         static_cast<double>(std::max<int64_t>(rows, 1));
}

}  // namespace telemetry::storage::sqlite
