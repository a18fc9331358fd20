#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "server/storage/sql/attempt_key.h"
#include "server/storage/sql/statement.h"

namespace telemetry::web::api {

// Reads the failures of single rows.
class RowFailures {
 public:
  explicit RowFailures(storage::sql::Database& dataset);

  // Returns the failure of a row, cut after `most` code points; empty: none.
  absl::StatusOr<std::string> Read(const storage::sql::AttemptKey& key, int64_t seq, int64_t most);

 private:
  storage::sql::Statement read_;
};

}  // namespace telemetry::web::api
