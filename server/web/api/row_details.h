#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/statistics/samples.h"
#include "server/storage/sql/attempt_key.h"
#include "server/storage/sql/statement.h"
#include "server/web/json/json_writer.h"

namespace telemetry::web::api {

// The details of a row beyond its measurement. Unset: not known.
struct RowDetails {
  std::optional<std::vector<double>> samples_ms;
  std::optional<bool> tied_with_best;
  std::optional<int64_t> throttled_samples;
  std::optional<int64_t> registers;
  std::optional<int64_t> spill_bytes;
  std::optional<int64_t> shared_bytes;
  std::optional<double> occupancy;
  std::optional<int64_t> binary_bytes;
  std::optional<double> sm_clock_mhz;
  std::optional<double> worst_absolute_error;
  std::optional<double> worst_relative_error;
};

// Reads the details of single rows.
class RowDetailReader {
 public:
  explicit RowDetailReader(storage::sql::Database& dataset);

  absl::StatusOr<RowDetails> Read(const storage::sql::AttemptKey& key, int64_t seq);

 private:
  storage::sql::Statement read_;
};

// Writes Quantiles, or null for no values.
void WriteQuantiles(json::JsonWriter& out, std::string_view key, const std::optional<std::vector<double>>& values);

}  // namespace telemetry::web::api
