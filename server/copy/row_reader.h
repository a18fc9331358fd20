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

// A position between two rows of a table: after row `after` of `owner`.
struct RowPlace {
  static constexpr int64_t kBegin = std::numeric_limits<int64_t>::min();
  int64_t owner = kBegin;
  int64_t after = kBegin;
};

// Reads a table row by row in the order of its keys, which is equal in both kinds of database. Holds at most
// DatasetTable::rows_at_once rows. For one thread, in a read transaction.
class RowReader {
 public:
  // Begins at a position from before(), possibly of another database with equal rows. The arguments must outlive the
  // reader.
  RowReader(storage::sql::Database& database, const DatasetTable& table, RowPlace from = {});

  // Moves to the next row; returns false at the end.
  absl::StatusOr<bool> Step();

  // Returns the current row with the table's columns. Valid until the next Step().
  const storage::sql::Statement& row() const { return rows_; }
  // Returns the run of the current row's owner, or 0 if the table has no owner.
  int64_t run() const { return owners_.empty() ? 0 : owners_[owner_].run; }
  // Returns the position before the current row. Returns nullopt between rows that are read at once, because no reader
  // can begin there.
  std::optional<RowPlace> before() const { return before_; }

 private:
  // The key of an owner and of its run.
  struct OwnerKey {
    int64_t key = 0;
    int64_t run = 0;
  };

  // Starts the next page of rows; returns false if there is none.
  absl::StatusOr<bool> NextPage();
  absl::StatusOr<bool> NextOwner();
  void BindRows();

  const DatasetTable& table_;
  storage::sql::Statement rows_;
  std::unique_ptr<storage::sql::Statement> owner_keys_;  // nullptr: no owners
  int key_column_ = -1;
  std::vector<OwnerKey> owners_;  // a page of owners, from the current one on
  size_t owner_ = 0;
  RowPlace place_;  // position after the current row
  std::optional<RowPlace> before_;
  bool page_open_ = false;
  int page_rows_ = -1;  // rows read of the current page; -1: no page was started
};

}  // namespace telemetry::copy
