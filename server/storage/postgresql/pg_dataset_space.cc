#include "server/storage/postgresql/pg_dataset_space.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "proto/base/status_macros.h"
#include "server/storage/postgresql/pg_space.h"

namespace telemetry::storage::postgresql {
namespace {

// The tables whose rows are removed with their attempt. Only the first two are counted as rows.
constexpr std::array<std::string_view, 4> kOfAttempts = {"measurements", "attempt_events", "measurement_details",
                                                         "source_hashes"};

bool IsUncounted(std::string_view table) {
  return table == "rejects" || table == "cache_entries" || table == "cache_senders" || table == "models" ||
         table == "model_parts";
}

}  // namespace

absl::StatusOr<int64_t> PgDatasetSpace::UsedBytes() {
  if (!is_measured_) {
    RETURN_IF_ERROR(Measure());
  }
  return static_cast<int64_t>(used_bytes_);
}

int64_t PgDatasetSpace::Subtract(int64_t rows) {
  const double bytes = std::min(static_cast<double>(rows) * row_bytes_, used_bytes_);
  used_bytes_ -= bytes;
  return static_cast<int64_t>(bytes);
}

absl::Status PgDatasetSpace::Measure() {
  ASSIGN_OR_RETURN(const std::vector<PgTableSpace> tables, ReadPgSpace(database_));
  int64_t bytes = 0;
  int64_t rows = 0;
  for (const PgTableSpace& table : tables) {
    used_bytes_ += static_cast<double>(table.used_bytes);
    if (IsUncounted(table.name)) uncounted_bytes_ += table.used_bytes;
    const auto* const of_attempts = std::find(kOfAttempts.begin(), kOfAttempts.end(), table.name);
    if (of_attempts == kOfAttempts.end()) continue;
    bytes += table.row_bytes;
    if (of_attempts - kOfAttempts.begin() < 2) rows += table.rows;
  }
  row_bytes_ = static_cast<double>(bytes) / static_cast<double>(std::max<int64_t>(rows, 1));
  is_measured_ = true;
  return absl::OkStatus();
}

}  // namespace telemetry::storage::postgresql
