#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/sql/statement.h"
#include "server/web/summary/text_table.h"

namespace telemetry::web::summary {

// Stores the descriptions of runs and kernels in the summaries, and what the attempts of a run amount to. Used by the
// writer of the summaries, inside its transactions.
class RunTable {
 public:
  RunTable(storage::sql::Database& dataset, storage::sql::Database& scratch, TextTable& texts);

  // Stores a run's description as it is in the dataset now. Returns true if it has changed.
  absl::StatusOr<bool> Describe(int64_t run);
  // Computes the columns that depend on the attempts again. Removes a run that has none left.
  absl::Status Count(int64_t run);

 private:
  absl::StatusOr<int64_t> KernelName(int64_t kernel);
  absl::StatusOr<int64_t> StoreKernel(int64_t kernel, const std::string& content);

  TextTable& texts_;
  storage::sql::Statement read_run_;
  storage::sql::Statement read_content_;
  storage::sql::Statement read_kernel_;
  storage::sql::Statement upsert_run_;
  storage::sql::Statement upsert_kernel_;
  storage::sql::Statement find_kernel_;
  storage::sql::Statement count_;
  storage::sql::Statement remove_;
};

}  // namespace telemetry::web::summary
