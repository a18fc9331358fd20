#pragma once

#include <cstdint>
#include <optional>

#include "server/storage/postgresql/pg_database.h"
#include "server/storage/tables/dataset_space.h"

namespace telemetry::storage::postgresql {

// The disk space of a dataset on a PostgreSQL server (pg_space.h): estimated once, since the server's statistics follow
// with a delay, and from then on reduced by the rows that this process removes.
class PgDatasetSpace : public tables::DatasetSpace {
 public:
  // `database` must outlive this object.
  explicit PgDatasetSpace(PgDatabase& database) : database_(database) {}

  absl::StatusOr<int64_t> UsedBytes() override;
  // Subtracts measurements and events that were deleted. Returns their bytes.
  int64_t Subtract(int64_t rows);
  int64_t UncountedBytes(int64_t /*estimate*/) const override { return uncounted_bytes_; }
  absl::StatusOr<double> RowBytes(int64_t /*counted_bytes*/) override { return row_bytes_; }

 private:
  absl::Status Measure();

  PgDatabase& database_;
  bool is_measured_ = false;
  double used_bytes_ = 0;
  int64_t uncounted_bytes_ = 0;  // of rejects and of the cache
  double row_bytes_ = 0;         // of the tables of attempts, for each measurement or event
};

}  // namespace telemetry::storage::postgresql
