#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "server/storage/sql/database.h"
#include "server/storage/sql/statement.h"

namespace telemetry::storage::sql {

// The table `long_failures`: the failures that are too long for their row of `measurements`. A search in `measurements`
// copies each row that it compares with, so a long row of one sender would slow down the rows of all others. Does
// nothing in a database without this table. Used by one thread, inside the writer's transaction.
class LongFailures {
 public:
  // The most bytes of a failure in a row of `measurements`: such a row has no overflow pages. The migration that
  // created the table contains the same number.
  static constexpr size_t kMostBytesInRow = 512;

  // `database` must outlive this object.
  explicit LongFailures(Database& database);

  // Returns the value of measurements.failure: the failure or, if it is too long, an empty text. nullopt: NULL.
  std::optional<std::string_view> InRow(std::optional<std::string_view> failure) const {
    return IsLong(failure) ? std::string_view() : failure;
  }
  // Stores a failure that InRow() has replaced. Does nothing for others.
  absl::Status Store(int64_t attempt, uint64_t seq, std::optional<std::string_view> failure);

 private:
  bool IsLong(std::optional<std::string_view> failure) const {
    return insert_.has_value() && failure.has_value() && failure->size() > kMostBytesInRow;
  }

  std::optional<Statement> insert_;  // nullopt: the database has no such table
};

}  // namespace telemetry::storage::sql
