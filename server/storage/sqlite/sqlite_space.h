#pragma once

#include "server/storage/sqlite/sqlite_database.h"
#include "server/storage/tables/dataset_space.h"

namespace telemetry::storage::sqlite {

// The disk space of a dataset in a SQLite file: the pages that are in use.
class SqliteSpace : public tables::DatasetSpace {
 public:
  // `database` must outlive this object.
  explicit SqliteSpace(SqliteDatabase& database) : database_(database) {}

  absl::StatusOr<int64_t> UsedBytes() override;
  int64_t UncountedBytes(int64_t estimate) const override { return estimate; }
  absl::StatusOr<double> RowBytes(int64_t counted_bytes) override;

 private:
  SqliteDatabase& database_;
};

}  // namespace telemetry::storage::sqlite
