#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/copy/dataset_tables.h"
#include "server/storage/sql/database.h"
#include "server/storage/sql/statement.h"

namespace telemetry::copy {

// Between two rows of a table: behind row `after` of `owner`.
struct RowPlace {
  static constexpr int64_t kBegin = std::numeric_limits<int64_t>::min();
  int64_t owner = kBegin;
  int64_t after = kBegin;
};

// Reads a table row by row in the order of its keys, which is the same in each kind of database, and never holds more
// than DatasetTable::rows_at_once. One thread, in a read transaction.
class RowReader {
 public:
  // Begins at a place that this gave, on whichever database of the same rows. What is passed must outlive this.
  RowReader(storage::Database& database, const DatasetTable& table, RowPlace from = {});

  // Moves to the next row; false: there is none.
  absl::StatusOr<bool> Step();

  // The current row, with the table's columns. Valid until the next Step.
  const storage::Statement& row() const { return rows_; }
  // Whom it belongs to, and in which run; 0 where the table has no owner.
  int64_t run() const { return owners_.empty() ? 0 : owners_[owner_].run; }
  // Right before the current row; nullopt: rows are read at once here, and no reader can begin between them.
  std::optional<RowPlace> before() const { return before_; }

 private:
  struct OwnerKey {
    int64_t key = 0;
    int64_t run = 0;
  };

  // Begins the next page of rows; false: there is none.
  absl::StatusOr<bool> NextPage();
  absl::StatusOr<bool> NextOwner();
  void BindRows();

  const DatasetTable& table_;
  storage::Statement rows_;
  std::unique_ptr<storage::Statement> owner_keys_;  // nullptr: no owners
  int key_column_ = -1;
  std::vector<OwnerKey> owners_;  // some, from the current one on
  size_t owner_ = 0;
  RowPlace place_;  // behind the current row
  std::optional<RowPlace> before_;
  bool page_open_ = false;
  int page_rows_ = -1;  // of the current page that were read; -1: none was begun
};

}  // namespace telemetry::copy
